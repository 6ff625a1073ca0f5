package redact

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

func stringsOf(v any, out *[]string) {
	switch v := v.(type) {
	case string:
		*out = append(*out, v)
	case []any:
		for _, e := range v {
			stringsOf(e, out)
		}
	case map[string]any:
		for _, e := range v {
			stringsOf(e, out)
		}
	}
}

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	total := 0
	var dur time.Duration
	for _, f := range testdata.Conversations(t) {
		var v any
		if err := json.Unmarshal([]byte(f.JSON), &v); err != nil {
			t.Fatal(err)
		}
		texts := []string{f.JSON}
		stringsOf(v, &texts)
		for k, s := range texts {
			t0 := time.Now()
			got := New().Text(s)
			dur += time.Since(t0)
			total += len(s)
			_ = k
			for g := got; ; {
				at := strings.Index(g, placeholderHead)
				if at < 0 {
					break
				}
				fmt.Printf("%s raw=%v: ...%q\n", f.Name, k == 0, g[max(0, at-70):min(len(g), at+60)])
				g = g[at+8:]
			}
		}
	}
	fmt.Println(total, dur, float64(total)/dur.Seconds()/1e6, "MB/s")
}
