package llm_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/openai"
	"github.com/elbowroom/elbowroom/summarizer/plugin"
)

// variable is the value of a variable that `make test-llm` sets.
func variable(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("%s is not set: make test-llm runs this test", name)
	}
	return value
}

var prompt = summarizer.Prompt{
	System: "You write short notes. Answer with one sentence.",
	User: "Sum up this conversation:\n[USER]: Please move the ferry timetable to port 48213.\n" +
		"[ASSISTANT]: Done, the timetable now listens on port 48213 and all tests pass.",
	MaxTokens: 60,
}

func server(t *testing.T, key string) *openai.Backend {
	t.Helper()
	backend, err := openai.New(openai.Options{
		Model: "smollm2", BaseURL: variable(t, "ELBOWROOM_TEST_LLM_URL"), APIKey: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	return backend
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func checkAnswer(t *testing.T, completion summarizer.Completion, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, %d tokens in, %d out, finish %s: %q", completion.Model, completion.PromptTokens, completion.CompletionTokens,
		completion.Finish, completion.Text)
	if strings.TrimSpace(completion.Text) == "" {
		t.Error("the answer is empty")
	}
	if completion.Finish != summarizer.FinishStop && completion.Finish != summarizer.FinishLength {
		t.Errorf("the answer ended with %s", completion.Finish)
	}
}

func checkUsage(t *testing.T, completion summarizer.Completion) {
	t.Helper()
	if completion.PromptTokens < 30 || completion.CompletionTokens < 1 || completion.CompletionTokens > prompt.MaxTokens {
		t.Errorf("usage is %d in, %d out", completion.PromptTokens, completion.CompletionTokens)
	}
}

func TestAWholeAnswer(t *testing.T) {
	completion, err := server(t, variable(t, "ELBOWROOM_TEST_LLM_KEY")).Complete(bounded(t), prompt, nil)
	checkAnswer(t, completion, err)
	checkUsage(t, completion)
}

func TestAStreamedAnswer(t *testing.T) {
	var pieces []string
	completion, err := server(t, variable(t, "ELBOWROOM_TEST_LLM_KEY")).
		Complete(bounded(t), prompt, func(piece string) { pieces = append(pieces, piece) })
	checkAnswer(t, completion, err)
	// Of usage nothing is said: this server takes stream_options and does not act on it.
	if len(pieces) < 2 || strings.Join(pieces, "") != completion.Text {
		t.Errorf("%d pieces: %q", len(pieces), pieces)
	}
}

func TestAnAnswerIsCutAtItsLimit(t *testing.T) {
	short := prompt
	short.MaxTokens = 3
	completion, err := server(t, variable(t, "ELBOWROOM_TEST_LLM_KEY")).Complete(bounded(t), short, nil)
	checkAnswer(t, completion, err)
	if completion.Finish != summarizer.FinishLength {
		t.Errorf("finish is %s after %d tokens", completion.Finish, completion.CompletionTokens)
	}
}

func TestFailuresOfARealServer(t *testing.T) {
	huge := prompt
	huge.User = strings.Repeat("All work and no play makes a long prompt. ", 1000)
	for _, test := range []struct {
		name, key string
		prompt    summarizer.Prompt
		want      summarizer.Failure
	}{
		{"a wrong key", "wrong", prompt, summarizer.FailureAuth},
		{"a prompt larger than the window", variable(t, "ELBOWROOM_TEST_LLM_KEY"), huge, summarizer.FailureTooLarge},
	} {
		for mode, onText := range map[string]func(string){"whole": nil, "streamed": func(string) {}} {
			t.Run(test.name+", "+mode, func(t *testing.T) {
				_, err := server(t, test.key).Complete(bounded(t), test.prompt, onText)
				var failed *summarizer.BackendError
				if !errors.As(err, &failed) || failed.Failure != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
				t.Log(err)
			})
		}
	}
}

func TestACancelledStreamEnds(t *testing.T) {
	long := prompt
	long.User, long.MaxTokens = "Count from one to one thousand in words.", 1000
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	_, err := server(t, variable(t, "ELBOWROOM_TEST_LLM_KEY")).Complete(ctx, long, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestThePythonPluginAnswers(t *testing.T) {
	backend, err := plugin.New(plugin.Options{Target: variable(t, "ELBOWROOM_TEST_LLM_PLUGIN")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	completion, err := backend.Complete(bounded(t), prompt, nil)
	checkAnswer(t, completion, err)
	checkUsage(t, completion)
}
