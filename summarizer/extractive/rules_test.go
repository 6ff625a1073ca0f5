package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestTheFirstRequestIsTheGoalVerbatim(t *testing.T) {
	got := summarize(t, request(user(`Set the final title: "Blue Tin Boats at Dawn" and rename a.txt.`), assistant("Fine."), user("Now count the pages of chapter_7.md.")))
	wantLine(t, got, sectionGoal, `- [0] user: "Set the final title: "Blue Tin Boats at Dawn" and rename a.txt."`)
	wantLine(t, got, sectionGoal, `- [2] user: "Now count the pages of chapter_7.md."`)
}

func TestTheNewestRequestIsNotRepeated(t *testing.T) {
	req := request(user("Build the parser in parse.go."), assistant("Built."), user("Now test it with case_42."))
	req.Latest = "Now test it with case_42."
	wantNone(t, summarize(t, req), "case_42")
}

func TestListsOfTheUserAreKeptItemByItem(t *testing.T) {
	for _, n := range []int{12, 163} {
		var sb strings.Builder
		sb.WriteString("Fix these issues:\n")
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&sb, "%d. issue number %d concerns the widget called w%d in the left part of the screen\n", i, i, i)
		}
		got := summarize(t, request(append([]conversation.Message{user("Hello, a project called Heron."), assistant("Hi."), user(sb.String())}, chatter(40)...)...))
		for i := 1; i <= n; i++ {
			if !strings.Contains(got, fmt.Sprintf("\n- [2] %d. issue", i)) {
				t.Errorf("item %d of %d is missing", i, n)
			}
		}
	}
}

func TestRulesOfTheUserAreFoundInManyLanguages(t *testing.T) {
	tests := map[string][2]string{ // the rule, and an ordinary sentence beside it
		"en": {"Never touch the legacy folder.", "Here is what I saw yesterday."},
		"de": {"Der Port muss 48213 bleiben.", "Das Programm steht im Ordner."},
		"fr": {"Il ne faut jamais modifier ce fichier.", "Le programme est dans le dossier."},
		"es": {"Los nombres deben quedar en minúsculas.", "El programa está en la carpeta."},
		"pt": {"Os testes devem passar antes do envio.", "O programa está na pasta."},
		"it": {"I nomi devono restare minuscoli.", "Il programma si trova nella cartella."},
		"ru": {"Никогда не меняйте файл настроек.", "Программа лежит в папке проекта."},
		"zh": {"必须使用蓝色主题，不要改动配置文件。", "程序放在文件夹里面。"},
		"ja": {"設定ファイルは絶対に変更しないでください。", "プログラムはフォルダにあります。"},
		"ko": {"설정 파일은 절대 변경하지 마세요.", "프로그램은 폴더에 있습니다."},
		"nl": {"De poort moet hetzelfde blijven.", "Het programma staat in de map."},
		"pl": {"Nazwy plików muszą, zawsze, zostać bez zmian.", "Program jest w katalogu."},
		"tr": {"Bu dosyayı asla silme lütfen.", "Program klasörün içinde duruyor."},
	}
	for lang, s := range tests {
		t.Run(lang, func(t *testing.T) {
			got := summarize(t, request(user("Project Heron."), assistant("OK."), user(s[1]+" "+s[0])))
			want := `- [2] user: "` + s[0] + `"`
			rules := lines(t, got, sectionConstraints)
			if len(rules) != 1 || rules[0] != want {
				t.Errorf("rules %q, want only %q", rules, want)
			}
		})
	}
}

func TestQuestionsAndCodeSetNoRules(t *testing.T) {
	got := summarize(t, request(user("Should we always rebuild?\nassert_only(must_be(a, b), c)\n```\nnever = 1\n```\nThe rest is as it was.")))
	if rules := lines(t, got, sectionConstraints); rules != nil {
		t.Errorf("rules %q, want none", rules)
	}
}

func TestDecisionsAreFoundInManyLanguages(t *testing.T) {
	for lang, s := range map[string]string{
		"en": "We decided to use SQLite for the cache.",
		"de": "Wir haben uns für SQLite entschieden.",
		"fr": "J'ai choisi SQLite pour le cache.",
		"es": "He decidido usar SQLite para la caché.",
		"pt": "Escolhi SQLite para o cache do projeto.",
		"it": "Ho deciso di usare SQLite per la cache.",
		"ru": "Мы решили использовать SQLite для кэша.",
		"zh": "我们决定使用 SQLite 作为缓存数据库。",
		"ja": "キャッシュには SQLite を採用することにしました。",
		"ko": "캐시에는 SQLite를 쓰기로 결정했습니다.",
	} {
		t.Run(lang, func(t *testing.T) {
			got := summarize(t, request(user("Project Heron."), assistant(s), assistant("The sky over the harbour is grey today.")))
			wantLine(t, got, sectionDecisions, `- [1] assistant: "`+s+`"`)
		})
	}
}

func TestFilesTellWhatWasDoneToThem(t *testing.T) {
	got := summarize(t, request(
		user("Work."),
		calling("a", "read_file", `{"path":"src/a.go"}`), result("a", "package a\n\nfunc Alpha() {}\n\nfunc Beta() {}\n\nfunc Gamma() {}\n\nfunc Delta() { return Epsilon(Zeta) }\n\nfunc Eta() {} // and so on and so forth"),
		calling("b", "Edit", `{"file_path":"src/a.go","old_string":"x","new_string":"y"}`), result("b", "ok"),
		calling("c", "Write", `{"file_path":"docs/new.md","content":"hello"}`), result("c", "ok"),
		calling("d", "bash", `{"command":"sed -i s/a/b/ conf/app.yaml"}`), result("d", ""),
		calling("e", "Edit", `{"file_path":"src/broken.go","old_string":"x","new_string":"y"}`), failing("e", "old_string not found"),
		calling("f", "str_replace_editor", `{"command":"create","path":"/repo/repro.py","file_text":"print(1)"}`), result("f", "File created"),
	))
	wantLine(t, got, sectionFiles, "- [3] src/a.go: edited, read")
	wantLine(t, got, sectionFiles, "- [5] docs/new.md: created")
	wantLine(t, got, sectionFiles, "- [7] conf/app.yaml: edited")
	wantLine(t, got, sectionFiles, "- [11] /repo/repro.py: created")
	for _, line := range lines(t, got, sectionFiles) {
		if strings.Contains(line, "broken.go") {
			t.Errorf("a failed edit is listed: %q", line)
		}
	}
}

func TestCallsTellTheirOutcome(t *testing.T) {
	tests := map[string]struct {
		input, result string
		fails         bool
		section       section
		want          string
	}{
		"exit code with the last error": {`{"command":"go test ./..."}`, "ok a\n--- FAIL: TestX\nError: want 3, got 4\nexit status 1", false, sectionBlocked, "- [1] bash: go test ./... → exit 1: Error: want 3, got 4"},
		"tagged return code":            {`{"command":"make"}`, "<returncode>2</returncode>\n<output>\nmake: fatal error here\n</output>", false, sectionBlocked, "- [1] bash: make → exit 2: make: fatal error here"},
		"success with a short result":   {`{"command":"git rev-parse HEAD"}`, "3f786850e387550f", false, sectionDone, "- [1] bash: git rev-parse HEAD → 3f786850e387550f"},
		"marked as error":               {`{"command":"ls /x"}`, "no such thing", true, sectionBlocked, "- [1] bash: ls /x → error: no such thing"},
		"error by its words":            {`{"command":"run"}`, "Traceback (most recent call last):\n  File x\nValueError: bad", false, sectionBlocked, "- [1] bash: run → error: ValueError: bad"},
		"no error after all":            {`{"command":"lint"}`, "errors: 0, warnings: 0", false, sectionDone, "- [1] bash: lint → errors: 0, warnings: 0"},
		"other arguments":               {`{"user_id":"omar_3817","limit":5,"deep":false}`, "found", false, sectionDone, "- [1] bash: user_id: omar_3817, limit: 5 → found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := result("a", tt.result)
			r.Blocks[0].IsError = tt.fails
			got := summarize(t, request(user("Work."), calling("a", "bash", tt.input), r))
			wantLine(t, got, tt.section, tt.want)
		})
	}
}

func TestACallWithoutResultIsInProgress(t *testing.T) {
	got := summarize(t, request(user("Work."), calling("a", "deploy", `{"target":"eu-west-9"}`)))
	wantLine(t, got, sectionInProgress, "- [1] deploy: target: eu-west-9 → no result yet")
}

func TestLikeCallsAreFoldedAndOvercomeFailuresBlockNothing(t *testing.T) {
	got := summarize(t, request(user("Work."),
		calling("a", "bash", `{"command":"go test ./x"}`), result("a", "Error: boom\nexit status 1"),
		calling("b", "bash", `{"command":"go test ./x"}`), result("b", "Error: boom\nexit status 1"),
		calling("c", "bash", `{"command":"go test ./x"}`), result("c", "ok x 0.3s"),
	))
	wantLine(t, got, sectionDone, "- [5] bash: go test ./x → ok x 0.3s (×3, failed 2)")
	if blocked := lines(t, got, sectionBlocked); blocked != nil {
		t.Errorf("blocked %q, want nothing", blocked)
	}
}

func TestTheSameErrorIsQuotedOnce(t *testing.T) {
	var log strings.Builder
	for i := range 40 {
		fmt.Fprintf(&log, "2024-05-%02d 10:%02d connection error: peer 10.0.%d.7 refused request %d\n", i%28+1, i, i, 1000+i*37)
	}
	got := summarize(t, request(user("Work."), calling("a", "logs", `{}`), result("a", log.String())))
	if n := strings.Count(got, "connection error"); n != 1 {
		t.Errorf("the error stands %d times in\n%s", n, got)
	}
}

func TestTheLastStateOfTheTodoListCounts(t *testing.T) {
	list := func(a, b string) string {
		return `{"todos":[{"content":"Write the parser","status":"` + a + `"},{"content":"Test the parser","status":"` + b + `"},{"content":"Ship it","status":"pending"},{"content":"Old idea","status":"cancelled"}]}`
	}
	got := summarize(t, request(user("Work."),
		calling("a", "TodoWrite", list("in_progress", "pending")), result("a", "Todos have been modified"),
		calling("b", "TodoWrite", list("completed", "in_progress")), result("b", "Todos have been modified"),
	))
	wantLine(t, got, sectionDone, "- [3] todo: Write the parser")
	wantLine(t, got, sectionInProgress, "- [3] todo: Test the parser")
	wantLine(t, got, sectionNext, "- [3] todo: Ship it")
	wantNone(t, got, "Old idea")
}

func TestChecklistsInTextAreTodoLists(t *testing.T) {
	got := summarize(t, request(user("Work."), assistant("Status:\n- [x] Write the parser\n- [ ] Test the parser")))
	wantLine(t, got, sectionDone, "- [1] todo: Write the parser")
	wantLine(t, got, sectionNext, "- [1] todo: Test the parser")
}

func TestTheLastTurnTellsWhatComesNext(t *testing.T) {
	got := summarize(t, request(user("Work."), assistant("Let me look at alpha.go."), assistant("The parser stands as it should. Next I will write the tests for beta.go. Do you want a benchmark too?")))
	wantLine(t, got, sectionNext, `- [2] assistant: "Next I will write the tests for beta.go."`)
	wantLine(t, got, sectionNext, `- [2] assistant asked: "Do you want a benchmark too?"`)
	for _, line := range lines(t, got, sectionNext) {
		if strings.Contains(line, "alpha.go") {
			t.Errorf("an older announcement is a next step: %q", line)
		}
	}
}

func TestSecretsStayOnlyWhereTheyAreAskedFor(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE5gH", 5)[:36]
	req := request(user("Deploy to the harbour with the token "+key+" and tell me when the gate opens."), assistant("I will use it."))
	hidden, err := New().Summarize(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(hidden.Text, key) || len(hidden.Redactions) != 1 || hidden.Redactions[0].Count != 1 {
		t.Errorf("redacted: %v in\n%s", hidden.Redactions, hidden.Text)
	}
	req.KeepSecrets = true
	kept, err := New().Summarize(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(kept.Text, key) || len(kept.Redactions) != 0 {
		t.Errorf("kept: %v in\n%s", kept.Redactions, kept.Text)
	}
}
