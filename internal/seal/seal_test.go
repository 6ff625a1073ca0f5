package seal

import "testing"

func TestOpenTellsWhatABlobIs(t *testing.T) {
	old, current := []byte("an old key of some length"), []byte("the current key of some length")
	payload := []byte(`{"a":1}`)
	signed := Codec{Kind: 2, Keys: [][]byte{current}}.Seal(payload)
	flipped := append([]byte(nil), signed...)
	flipped[len(flipped)-2] ^= 1
	tests := []struct {
		name string
		blob []byte
		with Codec
		want Verdict
	}{
		{"signed", signed, Codec{Kind: 2, Keys: [][]byte{current}}, Verified},
		{"signed with a rotated key", Codec{Kind: 2, Keys: [][]byte{old}}.Seal(payload), Codec{Kind: 2, Keys: [][]byte{current, old}}, Verified},
		{"summed", Codec{Kind: 2}.Seal(payload), Codec{Kind: 2}, Unverified},
		{"summed where keys are wanted", Codec{Kind: 2}.Seal(payload), Codec{Kind: 2, Keys: [][]byte{current}}, Broken},
		{"signed where no key is known", signed, Codec{Kind: 2}, Broken},
		{"signed with an unknown key", signed, Codec{Kind: 2, Keys: [][]byte{old}}, Broken},
		{"changed", flipped, Codec{Kind: 2, Keys: [][]byte{current}}, Broken},
		{"of another kind", signed, Codec{Kind: 3, Keys: [][]byte{current}}, Foreign},
		{"of another kind, renamed", append([]byte{3}, signed[1:]...), Codec{Kind: 3, Keys: [][]byte{current}}, Broken},
		{"too short", signed[:20], Codec{Kind: 2, Keys: [][]byte{current}}, Foreign},
		{"nothing", nil, Codec{Kind: 2}, None},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, verdict := tt.with.Open(tt.blob)
			if verdict != tt.want {
				t.Errorf("got %q, want %q", verdict, tt.want)
			}
			if verdict.Good() != (string(got) == string(payload)) || !verdict.Good() && got != nil {
				t.Errorf("payload %q with verdict %q", got, verdict)
			}
		})
	}
}
