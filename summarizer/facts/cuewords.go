package facts

// Cue is what a word or phrase says about the sentence it stands in.
type Cue uint8

// The cues.
const (
	CueRule      Cue = 1 << iota // a rule or a preference: must, never, only
	CueDecision                  // a choice or its reason: decided, instead, because
	CueDone                      // something finished: fixed, created
	CueNext                      // something to come: next, remaining
	CueDirective                 // speaks to an assistant: you must, ignore
)

// cueWords lists the words by cue, parted by '|'. A word of an alphabet matches
// as a whole word in any case; words of scripts without spaces match anywhere.
// They select sentences for a section; nothing is ever decided by them alone.
var cueWords = [...]struct {
	cue   Cue
	words string
}{
	// English
	{CueRule, "must|mustn't|never|always|only|don't|do not|should|shouldn't|should not|must not|prefer|preferably|avoid|make sure|ensure|without|forbidden|not allowed|no more than|at most|at least|rather than|stick to|required|has to|have to|keep"},
	{CueDecision, "decided|decide|decision|chose|chosen|choose|instead|because|going with|went with|opted|root cause|the cause|the issue is|the issue was|the problem is|the problem was|turns out|will use|we'll use|i'll use|rather than|agreed|conclusion|the fix is|therefore"},
	{CueDone, "fixed|implemented|added|created|updated|removed|completed|done|finished|passed|passes|passing|verified|confirmed|successfully|renamed|installed|committed|merged|resolved|refactored|wrote|cancelled|booked"},
	{CueNext, "next|let me|i'll|i will|now i|remaining|todo|going to|need to|pending|should we|would you like|do you want|shall i"},
	{CueDirective, "you must|you should|you are now|you need to|you have to|ignore|disregard|reminder|do not tell|don't tell|your task|from now on|respond with|never mention|always respond|as an ai|system prompt|do not mention|you will"},
	// German
	{CueRule, "muss|müssen|musst|darf|dürfen|nie|niemals|immer|nur|nicht|kein|keine|keinen|bevorzuge|bevorzugt|vermeide|vermeiden|ohne|lieber|auf keinen fall|soll|sollte|sollen|unbedingt"},
	{CueDecision, "entschieden|entscheidung|stattdessen|weil|deshalb|daher|ursache|gewählt|anstatt"},
	{CueDone, "erledigt|behoben|hinzugefügt|erstellt|aktualisiert|fertig|abgeschlossen|erfolgreich|umgesetzt"},
	{CueNext, "als nächstes|nächster|nächste|ich werde|verbleibend|noch offen|jetzt"},
	{CueDirective, "ignoriere|du musst|sie müssen"},
	// French
	{CueRule, "doit|doivent|dois|devez|jamais|toujours|seulement|uniquement|ne|n'|préfère|préférez|éviter|évite|évitez|sans|il faut|interdit|obligatoire"},
	{CueDecision, "décidé|décision|choisi|parce que|plutôt que|au lieu|donc|à cause"},
	{CueDone, "corrigé|ajouté|créé|terminé|réussi|mis à jour|supprimé|effectué"},
	{CueNext, "ensuite|prochaine|prochain|je vais|il reste|maintenant"},
	{CueDirective, "ignorez|ignore les|vous devez|tu dois"},
	// Spanish
	{CueRule, "debe|deben|debes|nunca|siempre|solo|sólo|solamente|únicamente|prefiero|prefiere|evita|evitar|sin|obligatorio|prohibido|jamás|tiene que|hay que|no toques|no cambies|no uses|no modifiques|no debe"},
	{CueDecision, "decidido|decidí|decisión|elegido|en lugar de|en vez de|porque|causa|por eso"},
	{CueDone, "corregido|añadido|creado|terminado|completado|actualizado|eliminado|listo"},
	{CueNext, "siguiente|próximo|voy a|ahora|falta|pendiente"},
	{CueDirective, "ignora|debes responder"},
	// Portuguese
	{CueRule, "deve|devem|sempre|somente|apenas|não|prefiro|prefira|evite|sem|obrigatório|proibido|tem que|nunca|só"},
	{CueDecision, "decidi|decisão|escolhi|escolhido|em vez de|por isso|portanto|porque"},
	{CueDone, "corrigido|adicionado|concluído|criado|atualizado|removido|pronto|finalizado"},
	{CueNext, "próxima|próximo|vou|agora|falta|pendente"},
	// Italian
	{CueRule, "devono|devi|deve|mai|sempre|solo|soltanto|non|preferisco|preferisci|evita|evitare|senza|obbligatorio|vietato"},
	{CueDecision, "deciso|decisione|scelto|invece|perché|quindi|causa"},
	{CueDone, "corretto|aggiunto|creato|completato|aggiornato|rimosso|finito"},
	{CueNext, "prossimo|prossima|adesso|manca|vado a|ora"},
	// Dutch, Polish, Turkish
	{CueRule, "moet|moeten|nooit|altijd|alleen|geen|musi|nigdy|zawsze|tylko|unikaj|asla|daima|sadece|mutlaka|yalnızca"},
	// Russian and Ukrainian
	{CueRule, "должен|должна|должно|должны|никогда|всегда|только|не|нельзя|обязательно|предпочитаю|избегай|избегайте|без|запрещено|нужно|надо|ніколи|завжди|тільки|лише|повинен|повинна"},
	{CueDecision, "решил|решила|решили|решено|выбрал|выбрали|вместо|потому что|причина|поэтому|решение"},
	{CueDone, "исправил|исправлено|исправлен|добавил|добавлен|добавлено|создал|создан|создано|готово|завершено|обновил|обновлено|выполнено|удалил|удалено"},
	{CueNext, "далее|следующий|следующим|теперь|сейчас|осталось|буду"},
	{CueDirective, "игнорируй|игнорируйте|ты должен|вы должны"},
	// Chinese
	{CueRule, "必须|必須|不要|不能|不得|不可|禁止|务必|務必|只能|只用|仅|僅|永远|永遠|绝不|絕不|切勿|总是|總是|一定要|优先|優先|最好|避免|请勿|請勿|应该|應該|别用"},
	{CueDecision, "决定|決定|选择了|選擇了|因为|因為|改用|采用|採用|原因|而不是|因此"},
	{CueDone, "完成|已修复|已修復|已创建|已創建|已添加|已更新|成功|修复了|修改了|添加了|创建了"},
	{CueNext, "接下来|接下來|下一步|现在|現在|我将|我會|我会|剩余|待办|让我"},
	{CueDirective, "你必须|你必須|忽略|无视"},
	// Japanese
	{CueRule, "必ず|必須|絶対|決して|ないで|てはいけ|てはなら|禁止|のみ|だけ|常に|優先|避け|べき|なければ|しないこと|厳禁"},
	{CueDecision, "決定|決め|選択|代わりに|なぜなら|ため、|原因|採用|したがって"},
	{CueDone, "完了|修正しました|追加しました|作成しました|更新しました|成功|済み|実装しました"},
	{CueNext, "次に|次は|これから|続いて|残り|今から"},
	{CueDirective, "無視して|あなたは"},
	// Korean
	{CueRule, "반드시|절대|항상|언제나|오직|하지 마|하지마|말아|금지|꼭|해야|안 됩니다|안됩니다|우선"},
	{CueDecision, "결정|선택|대신|때문|원인|따라서"},
	{CueDone, "완료|수정했|추가했|생성했|성공"},
	{CueNext, "다음|이제|앞으로|남은|하겠습니다|할게요"},
	// Arabic, Hindi
	{CueRule, "يجب|أبدا|دائما|فقط|ممنوع|हमेशा|केवल|जरूर"},
}
