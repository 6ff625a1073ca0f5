package conversation

import (
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// nativeFormat is the codec of a test data format.
func nativeFormat(format string) Format {
	if format == testdata.Anthropic {
		return FormatAnthropicMessages
	}
	return FormatOpenAIChat
}

func BenchmarkParse(b *testing.B) {
	for _, f := range testdata.Conversations(b) {
		b.Run(f.Name, func(b *testing.B) {
			b.SetBytes(int64(len(f.JSON)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(nativeFormat(f.Format), f.JSON, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
