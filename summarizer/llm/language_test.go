package llm

import "testing"

func TestTheLanguageOfUsers(t *testing.T) {
	tests := []struct{ said, want string }{
		{"Please fix the failing test and do not change the API.", "English (en)"},
		{"Por favor, verifique as marés de amanhã e diga a hora certa.", "Portuguese (pt)"},
		{"Por favor revisa el archivo y dime qué no funciona en la prueba.", "Spanish (es)"},
		{"Bitte prüfe die Datei und sag mir, was nicht funktioniert.", "German (de)"},
		{"Vérifie le fichier et dis-moi ce qui ne marche pas dans les tests.", "French (fr)"},
		{"Controlla il file e dimmi che cosa non funziona nella prova, per favore, è urgente.", "Italian (it)"},
		{"Kijk naar het bestand en zeg me wat er niet werkt, graag voor morgen.", "Dutch (nl)"},
		{"请检查 pkg/auth 里的测试并修复它", "Chinese (zh)"},
		{"テストを直してください", "Japanese (ja)"},
		{"테스트를 고쳐 주세요", "Korean (ko)"},
		{"Проверь файл и скажи, что не так с тестом, но не меняй API.", "Russian (ru)"},
		{"تحقق من الملف وأخبرني ما المشكلة في هذا الاختبار من فضلك", "Arabic (ar)"},
		{"ls -la /tmp", ""},
		{"", ""},
		{"ok", ""},
	}
	for _, tt := range tests {
		if got := languageOf([]string{tt.said}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.said, got, tt.want)
		}
	}
}
