package tokens

import (
	"encoding/json"
	"os"
	"testing"
)

func TestDevAgreement(t *testing.T) {
	read := func(p string, v any) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Skip(err)
		}
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	base := os.Getenv("DEVTEXTS")
	read(base+".json", &texts)
	counts := map[string][]int{}
	read(base+".ctok.json", &counts)
	v3, v47 := newTilings()
	for _, c := range []struct {
		v string
		t *tiling
		b bool
	}{{"3.0", v3, true}, {"4.7", v47, true}, {"4.8", v47, false}} {
		bad := 0
		for i, s := range texts {
			n, err := c.t.count(t.Context(), s, c.b)
			if err != nil {
				t.Fatal(err)
			}
			if n != counts[c.v][i] && s != "" {
				bad++
				if bad <= 15 {
					t.Logf("%s: %+q got %d want %d", c.v, s[:min(len(s), 300)], n, counts[c.v][i])
				}
			}
		}
		t.Logf("%s: %d of %d differ", c.v, bad, len(texts))
	}
}
