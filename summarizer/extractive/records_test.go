package extractive

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unitsOf(v voice, text string) []string {
	s := &script{passages: []passage{{voice: v, text: text, call: -1}}, bytes: len(text)}
	_, units, _ := cut(s, newQuery(""), nil, nil)
	out := make([]string, len(units))
	for i, u := range units {
		out[i] = u.text
	}
	return out
}

func TestJSONBecomesRecords(t *testing.T) {
	long := strings.Repeat("word ", 40)
	tests := map[string]struct {
		in   string
		want []string
	}{
		"one object":            {`{"id": "JG7FMM", "n": 1859, "ok": true, "none": null}`, []string{"id: JG7FMM, n: 1859, ok: true"}},
		"list of objects":       {`[{"id": "A1", "x": 2.5}, {"id": "B2", "x": 3.5}]`, []string{"id: A1, x: 2.5", "id: B2, x: 3.5"}},
		"named list of objects": {`{"user": "omar_1", "flights": [{"no": "HAT028", "seats": {"eco": 12, "biz": 3}}, {"no": "HAT277", "from": "MCO"}]}`, []string{"user: omar_1", "flights: no: HAT028, seats: eco: 12, biz: 3", "flights: no: HAT277, from: MCO"}},
		"list of scalars":       {`{"ids": ["A1", "B2", "C3"]}`, []string{"ids: A1, B2, C3"}},
		"text in a string":      {`{"output": "first line_1\nsecond line_2"}`, []string{"first line_1", "second line_2"}},
		"long string":           {`{"note": "` + long + `end_9"}`, nil},
		"escapes":               {`{"p": "a\/b\u00e9\"q\" \ud83d\udce5 x1"}`, []string{`p: a/bé"q" 📥 x1`}},
		"not JSON":              {"[INFO] started srv_1\n[WARN] stopped srv_2", []string{"[INFO] started srv_1", "[WARN] stopped srv_2"}},
		"broken JSON":           {"{\"a\": b_1 }", []string{"{\"a\": b_1 }"}},
		"trailing text":         {`{"a": 1} and more_2 {}`, []string{`{"a": 1} and more_2 {}`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := unitsOf(voiceTool, tt.in)
			if tt.want == nil {
				if len(got) < 2 || !strings.HasPrefix(got[0], "note: word") || !strings.HasSuffix(got[len(got)-1], "end_9") {
					t.Errorf("units %q", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDeepJSONIsTakenAsItStands(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200) + `"leaf_77"` + strings.Repeat("}", 200)
	if got := strings.Join(unitsOf(voiceTool, deep), " "); !strings.Contains(got, "leaf_77") {
		t.Errorf("the leaf is lost: %q", got)
	}
}

func TestLinesOfTools(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []string
	}{
		"line numbers of viewers": {"     1→package a_1\n    12\tfunc b_2()\n123:func c_3()", []string{"package a_1", "func b_2()", "123:func c_3()"}},
		"progress bars":           {"10%\r50%\rdone in 12.5s", []string{"done in 12.5s"}},
		"blank and ruled lines":   {"a_1\n\n------\n=====\nb_2", []string{"a_1", "b_2"}},
		"colours":                 {"\x1b[31merror_1\x1b[0m in x", []string{"error_1 in x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, unitsOf(voiceTool, tt.in)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLongLinesAreCutAtBordersAndLoseNothing(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("alpha_1, beta_2; ", 60),
		strings.Repeat("设置文件在项目目录里面，端口号是四八二一三。", 30),
		strings.Repeat(strings.Repeat("x1y", 20)+" "+strings.Repeat("z2", 30)+"/", 5),
	} {
		got := unitsOf(voiceTool, s)
		for _, u := range got {
			if len(u) > maxLine {
				t.Errorf("a unit of %d bytes", len(u))
			}
		}
		if strings.ReplaceAll(strings.Join(got, ""), " ", "") != strings.ReplaceAll(s, " ", "") {
			t.Errorf("text is lost: %q from %q", got, s)
		}
	}
}

func TestProseIsCutIntoSentencesOfAnyScript(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []string
	}{
		"en":    {"I saw it at 3.5 km e.g. from here. He never came back! Why?\n\n- one item\n- other item", []string{"I saw it at 3.5 km e.g. from here.", "He never came back!", "Why?", "- one item", "- other item"}},
		"zh":    {"端口是四八二一三。不要改动配置文件！好吗？", []string{"端口是四八二一三。", "不要改动配置文件！", "好吗？"}},
		"ja":    {"設定は終わりました。次にテストを行います。", []string{"設定は終わりました。", "次にテストを行います。"}},
		"ru":    {"Порт равен сорока. Никогда не меняйте его!", []string{"Порт равен сорока.", "Никогда не меняйте его!"}},
		"pt":    {"O porto fica em Faro. Não mude nada, por favor.", []string{"O porto fica em Faro.", "Não mude nada, por favor."}},
		"fence": {"Look here:\n```go\nx := 1_000 // comment. With two sentences.\n```", []string{"Look here:", "x := 1_000 // comment. With two sentences."}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, unitsOf(voiceUser, tt.in)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
