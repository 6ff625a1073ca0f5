package llm

import (
	"fmt"
	"strings"
	"testing"
)

func TestRepetition(t *testing.T) {
	var files, rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&files, "- src/components/button%d.tsx: read, no change\n", i)
		fmt.Fprintf(&rows, "| case %d | ok | ok | ok | ok |\n", i)
	}
	tests := []struct {
		name, text string
		want       bool
	}{
		{"laughter", strings.Repeat("ha ha ha ", 400), true},
		{"laughter without spaces", strings.Repeat("haha", 900), true},
		{"laughter in Chinese", strings.Repeat("哈", 3_600), true},
		{"a sentence in a loop", "- The tests pass.\n" + strings.Repeat("- The user asked to fix the test.\n", 60), true},
		{"a sentence in a loop in Thai", strings.Repeat("ผู้ใช้ต้องการแก้ไขการทดสอบ", 300), true},
		{"little said twice", "## Goal\n- no, no, no\n- no, no, no", false},
		{"files of one kind", files.String(), false},
		{"rows of a table", rows.String(), false},
		{"Chinese", strings.Repeat("修复登录测试，不要改动接口。", 3) + "部署失败，原因是证书过期。", false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := repeats(tt.text); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
