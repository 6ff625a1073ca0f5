package security

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// got names what a call ended with.
func got(err error) string {
	name := map[codes.Code]string{
		codes.OK: "OK", codes.InvalidArgument: "INVALID_ARGUMENT", codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
		codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Unimplemented: "UNIMPLEMENTED", codes.Unauthenticated: "UNAUTHENTICATED",
	}[status.Code(err)]
	if name == "" {
		return err.Error()
	}
	return name
}

func native(body string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Body: &elbowroomv1.NativeRequest_Json{Json: body},
	}}
}

const plainBody = `{"messages":[{"role":"user","content":"hi"}]}`

// everyCall makes every call with a token and returns what all of them ended with.
func (s *service) everyCall(t *testing.T, token string) string {
	t.Helper()
	ctx, c := as(t, token), native(plainBody)
	outcomes := map[string]bool{}
	note := func(err error) { outcomes[got(err)] = true }
	_, err := s.client.Compress(ctx, &elbowroomv1.CompressRequest{Conversation: c})
	note(err)
	_, err = s.client.Prepare(ctx, &elbowroomv1.PrepareRequest{Conversation: c})
	note(err)
	_, err = s.client.ApplyCacheControl(ctx, &elbowroomv1.ApplyCacheControlRequest{Conversation: c})
	note(err)
	_, err = s.client.CountTokens(ctx, greeting())
	note(err)
	_, err = s.client.ListModels(ctx, &elbowroomv1.ListModelsRequest{})
	note(err)
	_, err = s.client.SimulateCache(ctx, &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: c}}})
	note(err)
	stream, err := s.client.StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{Request: &elbowroomv1.CompressRequest{Conversation: c}})
	if err == nil {
		_, err = stream.Recv()
	}
	note(err)
	var all []string
	for outcome := range outcomes {
		all = append(all, outcome)
	}
	return strings.Join(all, " and ")
}

func strangers(token string) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string { return s.everyCall(t, token) }
}

func withClaims(claim string, value any) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string {
		if ok := s.everyCall(t, s.issuer.sign(t, s.issuer.key, "", nil)); ok != "OK" {
			t.Fatalf("a good token: %s", ok)
		}
		return s.everyCall(t, s.issuer.sign(t, s.issuer.key, claim, value))
	}
}

func forged(t *testing.T, s *service) string {
	return s.everyCall(t, s.issuer.sign(t, newKey(t), "", nil))
}

func unsigned(t *testing.T, s *service) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return s.everyCall(t, part(`{"alg":"none"}`)+"."+part(fmt.Sprintf(`{"iss":%q,"aud":"elbowroom","sub":"team-a","exp":99999999999}`, s.issuer.name))+".")
}

// none shows no certificate, strangersOwn one that nobody here has signed.
func none(*testing.T, *service) []tls.Certificate { return nil }

func strangersOwn(t *testing.T, s *service) []tls.Certificate {
	return []tls.Certificate{s.stranger.Pair(t, "team-a")}
}

// listModels makes a call that ends when the connection cannot be made.
func listModels(ctx context.Context, conn *grpc.ClientConn) string {
	_, err := elbowroomv1.NewContextServiceClient(conn).ListModels(ctx, &elbowroomv1.ListModelsRequest{})
	if status.Code(err) == codes.Unavailable {
		return "closed"
	}
	return got(err)
}

// certificate asks the server that requires certificates.
func certificate(show func(*testing.T, *service) []tls.Certificate) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string {
		good := s.dial(t, s.strict.GRPC, []tls.Certificate{s.ca.Pair(t, "team-a")})
		if ok := listModels(as(t, ""), good); ok != "OK" {
			t.Fatalf("a good certificate: %s", ok)
		}
		return listModels(as(t, ""), s.dial(t, s.strict.GRPC, show(t, s)))
	}
}

func strangersCertificate(t *testing.T, s *service) string {
	return listModels(as(t, s.a), s.dial(t, s.process.GRPC, strangersOwn(t, s)))
}

func oldTLS(t *testing.T, s *service) string {
	conn := tls.Client(open(t, s.process.GRPC), &tls.Config{RootCAs: s.ca.Pool(), ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if conn.HandshakeContext(t.Context()) != nil {
		return "closed"
	}
	return "accepted"
}

func withoutTLS(t *testing.T, s *service) string {
	conn, err := grpc.NewClient(s.process.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return listModels(as(t, s.a), conn)
}

// long is a conversation that there is something to compress in.
func long(turns int) string {
	var out strings.Builder
	out.WriteString(`{"system":"You help.","messages":[`)
	for i := range turns {
		fmt.Fprintf(&out, `{"role":"user","content":"question %d %s"},{"role":"assistant","content":"answer %d %s"},`, i, strings.Repeat("about the harbour ", 40), i, strings.Repeat("and its lights ", 40))
	}
	return out.String() + `{"role":"user","content":"and now?"}]}`
}

func compressing(body string) *elbowroomv1.CompressRequest {
	return &elbowroomv1.CompressRequest{
		Conversation: native(body), ContextWindow: 8_000, SessionId: "s1", Force: true, Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: new(int32(4))},
	}
}

func anothersBody(t *testing.T, s *service) string {
	body := long(3)
	kept := native(body)
	kept.Native.Keep = true
	if _, err := s.client.CountTokens(as(t, s.a), &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	delta := &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES,
		Body:   &elbowroomv1.NativeRequest_Delta{Delta: &elbowroomv1.NativeDelta{Base: digest(body)}},
	}}
	if _, err := s.client.CountTokens(as(t, s.a), &elbowroomv1.CountTokensRequest{Conversation: delta}); err != nil {
		t.Fatalf("its own body: %v", err)
	}
	_, err := s.client.CountTokens(as(t, s.b), &elbowroomv1.CountTokensRequest{Conversation: delta})
	return got(err) + " " + reasonOf(err)
}

func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// ignored says whether a state was.
func ignored(t *testing.T, own, others string, err error) string {
	t.Helper()
	if !strings.HasPrefix(own, "unverified") {
		t.Errorf("its own state: %q", own)
	}
	if err == nil && strings.HasPrefix(others, "ignored") {
		return "OK, state ignored"
	}
	return fmt.Sprintf("%s, %v", others, err)
}

func anothersState(t *testing.T, s *service) string {
	out, err := s.client.Compress(as(t, s.a), compressing(long(20)))
	if err != nil || len(out.GetCompressionState()) == 0 {
		t.Fatalf("no state: %v, %v", out.GetOutcome(), err)
	}
	again := compressing(out.GetConversation().GetNative().GetJson())
	again.CompressionState = out.GetCompressionState()
	own, err := s.client.Compress(as(t, s.a), again)
	if err != nil {
		t.Fatal(err)
	}
	others, err := s.client.Compress(as(t, s.b), again)
	return ignored(t, own.GetReport().GetState(), others.GetReport().GetState(), err)
}

func anothersCacheState(t *testing.T, s *service) string {
	mark := &elbowroomv1.ApplyCacheControlRequest{Conversation: native(long(20)), Strategy: elbowroomv1.Strategy_STRATEGY_ANCHORED}
	out, err := s.client.ApplyCacheControl(as(t, s.a), mark)
	if err != nil {
		t.Fatal(err)
	}
	mark.CacheState = out.GetCacheState()
	own, err := s.client.ApplyCacheControl(as(t, s.a), mark)
	if err != nil {
		t.Fatal(err)
	}
	others, err := s.client.ApplyCacheControl(as(t, s.b), mark)
	return ignored(t, own.GetPlan().GetState(), others.GetPlan().GetState(), err)
}

// anothersSession asks with another tenant's session for what it has compressed.
func anothersSession(t *testing.T, s *service) string {
	body := strings.ReplaceAll(long(20), "harbour", "shipyard")
	hit := func(token string) elbowroomv1.ContinuityResult {
		out, err := s.client.Compress(as(t, token), compressing(body))
		if err != nil {
			t.Fatal(err)
		}
		return out.GetReport().GetContinuity().GetResult()
	}
	hit(s.a)
	if own := hit(s.a); own != elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT {
		t.Errorf("its own session: %v", own)
	}
	if others := hit(s.b); others != elbowroomv1.ContinuityResult_CONTINUITY_RESULT_MISS {
		return others.String()
	}
	return "OK, nothing found"
}

// reflects asks for the API's description. Health is for everybody.
func reflects(t *testing.T, s *service) string {
	conn := s.dial(t, s.process.GRPC, nil)
	if out, err := healthv1.NewHealthClient(conn).Check(as(t, ""), &healthv1.HealthCheckRequest{}); err != nil || out.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", out, err)
	}
	ask := func(token string) error {
		stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(as(t, token))
		if err != nil {
			return err
		}
		_ = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
		_, err = stream.Recv()
		return err
	}
	if err := ask(s.a); err != nil {
		t.Errorf("with a token: %v", err)
	}
	return got(ask(""))
}

func unknownService(t *testing.T, s *service) string {
	err := s.dial(t, s.process.GRPC, nil).Invoke(as(t, ""), "/elbowroom.v1.AdminService/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	return got(err)
}

// strangersBody sends more than the server takes in, which it refuses before it has: the
// size is never an error.
func strangersBody(t *testing.T, s *service) string {
	text := strings.Repeat("x", 64<<20)
	_, err := s.client.CountTokens(as(t, "elbow_guess"), &elbowroomv1.CountTokensRequest{Text: &text})
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return got(err)
}
