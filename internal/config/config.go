package config

import (
	"time"
)

// Config is every setting. The tags key, default and help are read here, and so are
// reload, which marks what a running server takes over from a changed file, and
// secret, which marks what is never printed; name, placeholder, embed, prefix,
// negatable, mapsep and kong by the command line parser. A secret is no flag: other
// users of the machine see those.
type Config struct {
	GRPCAddr  string `key:"grpc_addr" name:"grpc-addr" default:"127.0.0.1:50051" placeholder:"HOST:PORT" help:"Address of the gRPC service."`
	HTTPAddr  string `key:"http_addr" name:"http-addr" default:"127.0.0.1:8051" placeholder:"HOST:PORT" help:"Address of the same service over HTTP: Connect, gRPC-Web, JSON, and POST /v1/compress for gateways. Empty: off."`
	AdminAddr string `key:"admin_addr" name:"admin-addr" default:"127.0.0.1:9051" placeholder:"HOST:PORT" help:"Address of /metrics, /healthz, /readyz and, on loopback only, /debug/pprof. Empty: off."`
	Insecure  bool   `key:"insecure" default:"false" help:"Serve on a non-loopback address although callers are not authenticated."`
	LogLevel  string `key:"log_level" reload:"yes" default:"info" placeholder:"LEVEL" help:"Least severe log lines written: debug, info, warn or error."`

	Summarizers  []string `key:"summarizers" default:"extractive" placeholder:"NAME" help:"The ladder of summarizers, best first: openai:MODEL, anthropic:MODEL, plugin:HOST:PORT, extractive. Keys and addresses come from OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL."`
	StateKeyFile string   `key:"state_key_file" reload:"yes" default:"" placeholder:"FILE" help:"File with the keys that sign compression states, one a line of at least 32 characters. The first signs, all are accepted. Empty: states carry a checksum only."`

	TLS  TLS  `key:"tls" embed:"" prefix:"tls-"`
	Auth Auth `key:"auth" embed:"" prefix:"auth-"`

	Summarizer    Summarizer    `key:"summarizer" embed:"" prefix:"summarizer-"`
	Compression   Compression   `key:"compression" embed:"" prefix:"compression-"`
	PromptCaching PromptCaching `key:"prompt_caching" embed:"" prefix:"prompt-caching-"`
	HTTP          HTTP          `key:"http" embed:"" prefix:"http-"`
	Count         Count         `key:"count" embed:"" prefix:"count-"`
	Limits        Limits        `key:"limits" embed:"" prefix:"limits-"`
	Keepalive     Keepalive     `key:"keepalive" embed:"" prefix:"keepalive-"`
	Store         Store         `key:"store" embed:"" prefix:"store-"`

	Telemetry Telemetry `key:"telemetry" embed:"" prefix:"telemetry-"`

	ShutdownTimeout time.Duration `key:"shutdown_timeout" default:"30s" placeholder:"DURATION" help:"How long calls may take to finish after SIGTERM or SIGINT before they are broken off."`
}

// Telemetry says what metrics are labelled with. Exporters are chosen by the OTEL_* variables.
type Telemetry struct {
	TenantLabel bool `key:"tenant_label" default:"false" help:"Label what tenants cost with their names. Every tenant makes each of those series once more."`
}

// TLS secures the gRPC and HTTP addresses. Files are read again when they change.
type TLS struct {
	CertFile     string `key:"cert_file" default:"" placeholder:"FILE" help:"Certificate of the server with its chain, in PEM. Empty: no TLS."`
	KeyFile      string `key:"key_file" default:"" placeholder:"FILE" help:"Key of the certificate, in PEM."`
	ClientCAFile string `key:"client_ca_file" name:"client-ca-file" default:"" placeholder:"FILE" help:"Authorities that sign clients' certificates, in PEM. Empty: clients need no certificate."`
	ClientAuth   string `key:"client_auth" default:"require" placeholder:"MODE" help:"With tls.client_ca_file: require a certificate of every client, or optional."`
}

// Auth says who may call, and for which tenant.
type Auth struct {
	TokensFile     string `key:"tokens_file" default:"" placeholder:"FILE" help:"Bearer tokens: a line for each with the tenant and the SHA-256 of the token; elbowroom token makes both. Read again when it changes."`
	JWTIssuer      string `key:"jwt_issuer" name:"jwt-issuer" default:"" placeholder:"URL" help:"Issuer of the JSON Web Tokens that are accepted as bearer tokens. Empty: none are."`
	JWTAudience    string `key:"jwt_audience" name:"jwt-audience" default:"" placeholder:"NAME" help:"Audience that a JSON Web Token must name."`
	JWTKeysURL     string `key:"jwt_keys_url" name:"jwt-keys-url" default:"" placeholder:"URL" help:"Where the issuer's keys are (JWKS). Empty: where its OpenID configuration says."`
	JWTTenantClaim string `key:"jwt_tenant_claim" name:"jwt-tenant-claim" default:"sub" placeholder:"CLAIM" help:"Claim that names the tenant."`
	Certificates   bool   `key:"certificates" default:"false" help:"Accept a client certificate as authentication: its common name is the tenant. Needs tls.client_ca_file."`
	Reflection     string `key:"reflection" default:"open" placeholder:"MODE" help:"Who may ask for the API's description: open, or authenticated."`
}

// Enabled reports whether callers have to say who they are.
func (a Auth) Enabled() bool { return a.TokensFile != "" || a.JWTIssuer != "" || a.Certificates }

// Summarizer says how language models are called for summaries.
type Summarizer struct {
	AttemptTimeout  time.Duration `key:"attempt_timeout" default:"60s" placeholder:"DURATION" help:"How long one call to a language model may take."`
	Retries         int           `key:"retries" default:"2" placeholder:"N" help:"Calls after a failed one that may succeed when made again."`
	BreakerDelay    time.Duration `key:"breaker_delay" default:"30s" placeholder:"DURATION" help:"How long a language model is left alone when five requests in a row have failed, give or take a fifth."`
	CallLimit       time.Duration `key:"call_limit" reload:"yes" default:"3m" placeholder:"DURATION" help:"How long one summarizer may work on one request, retries and parts included."`
	ContextWindow   int           `key:"context_window" default:"0" placeholder:"TOKENS" help:"Context window of the summarizing models. 0: what is known of each, 128,000 where nothing is. Longer middles are summarized in parts."`
	MaxOutputTokens int           `key:"max_output_tokens" default:"16384" placeholder:"TOKENS" help:"Most tokens of one answer, reasoning included; models that think at length need more."`
	PromptFile      string        `key:"prompt_file" default:"" placeholder:"FILE" help:"Template of the prompt in place of the built-in one."`
	PluginTLS       bool          `key:"plugin_tls" name:"plugin-tls" default:"false" help:"Connect to plug-ins by TLS, with the system's certificates. Without it only plug-ins on this machine are allowed."`
}

// Compression are the server's defaults for what a request leaves open.
type Compression struct {
	Enabled          bool               `key:"enabled" reload:"yes" default:"true" negatable:"" help:"Compress at all."`
	Threshold        float64            `key:"threshold" reload:"yes" default:"0.50" placeholder:"SHARE" help:"Share of the context window at which the agent layer compresses, above 0 and up to 1."`
	TargetRatio      float64            `key:"target_ratio" reload:"yes" default:"0.20" placeholder:"SHARE" help:"Size of the verbatim tail as a share of the threshold, 0.10 to 0.80."`
	ProtectLastN     int                `key:"protect_last_n" reload:"yes" default:"20" placeholder:"N" help:"Messages kept at the end at least."`
	GatewayThreshold float64            `key:"gateway_threshold" reload:"yes" default:"0.85" placeholder:"SHARE" help:"Share of the context window at which the gateway layer compresses, above 0 and up to 1."`
	Continuity       bool               `key:"continuity" reload:"yes" default:"true" negatable:"" help:"Find earlier compressions of the same messages again, so that callers who send their full history every turn get a stable prefix."`
	UnknownWindow    int                `key:"unknown_window" reload:"yes" default:"128000" placeholder:"TOKENS" help:"Context window of models that are not known (elbowroom models lists those that are), where a request names none. Gateways name none."`
	ModelThresholds  map[string]float64 `key:"model_thresholds" reload:"yes" default:"" placeholder:"MODEL=SHARE,..." mapsep:"," help:"Agent-layer thresholds for models whose name contains the key; the longest key wins."`
}

// PromptCaching are the defaults of breakpoints, and what takes the place of built-in tables.
type PromptCaching struct {
	CacheTTL    string `key:"cache_ttl" reload:"yes" name:"cache-ttl" default:"5m" placeholder:"TTL" help:"Life of cached prefixes where a request names none: 5m or 1h."`
	LayoutsFile string `key:"layouts_file" reload:"yes" name:"layouts-file" default:"" placeholder:"FILE" help:"JSON file with rows that take the place of the built-in ones of the same name in the table of layouts: where a route takes breakpoints, and from how many tokens on it caches. Empty: the built-in table."`
	PricesFile  string `key:"prices_file" reload:"yes" name:"prices-file" default:"" placeholder:"FILE" help:"JSON file with prices that win over the built-in ones of the same or an earlier date. Empty: the built-in prices."`
}

// Count says which providers may be asked for counts (METHOD_PROVIDER), and how.
type Count struct {
	Providers   []string      `key:"providers" reload:"yes" default:"" placeholder:"NAME" help:"Providers that CountTokens may ask with METHOD_PROVIDER: anthropic, openai, gemini. The conversation is sent to them as it is. Empty: none."`
	Timeout     time.Duration `key:"timeout" reload:"yes" default:"5s" placeholder:"DURATION" help:"How long a provider may take for a count before the local one is returned."`
	Concurrency int           `key:"concurrency" reload:"yes" default:"8" placeholder:"N" help:"Provider counts at one time; more wait within their timeout."`
}

// HTTP says who may use the HTTP edge besides programs.
type HTTP struct {
	AllowedOrigins []string `key:"allowed_origins" default:"" placeholder:"ORIGIN" help:"Origins whose web pages may call the HTTP edge, for example https://app.example; * is any. Empty: none."`
}

// Limits bound what callers may cost.
type Limits struct {
	MaxMessageBytes        Bytes         `key:"max_message_bytes" default:"64MiB" placeholder:"BYTES" help:"Largest request; a response may have twice that."`
	MaxInFlightBytes       Bytes         `key:"max_in_flight_bytes" reload:"yes" default:"512MiB" placeholder:"BYTES" help:"Requests being worked on together; one that exceeds it is refused with RESOURCE_EXHAUSTED."`
	MaxConcurrentCalls     int           `key:"max_concurrent_calls" reload:"yes" default:"0" placeholder:"N" help:"Calls being worked on together; one more is refused with RESOURCE_EXHAUSTED. 0: no bound."`
	MaxWorkingCalls        int           `key:"max_working_calls" reload:"yes" default:"0" placeholder:"N" help:"Calls that have the processors at one time; more wait for a moment and are then refused with RESOURCE_EXHAUSTED. Those that wait for a model are not counted. 0: half as many as there are processors, at least one."`
	MaxKeptBytes           Bytes         `key:"max_kept_bytes" default:"128MiB" placeholder:"BYTES" help:"Bodies held for callers that send deltas, together; when they are too many, the tenant that holds the most loses those it has not used for longest. 0: none are held."`
	MaxRememberedBytes     Bytes         `key:"max_remembered_bytes" default:"64MiB" placeholder:"BYTES" help:"Memory for what is made of single texts, so that the messages of earlier turns are not read anew; what was not met for longest goes first. 0: nothing is remembered."`
	MaxConcurrentStreams   int           `key:"max_concurrent_streams" default:"256" placeholder:"N" help:"Calls at one time of one connection; more wait."`
	MaxConnections         int           `key:"max_connections" default:"10000" placeholder:"N" help:"Connections of the gRPC and of the HTTP address, each; one more is closed at once. 0: no bound."`
	HandshakeTimeout       time.Duration `key:"handshake_timeout" default:"10s" placeholder:"DURATION" help:"How long a connection may take for TLS and the opening of HTTP/2, or for the headers of an HTTP request."`
	ReceiveTimeout         time.Duration `key:"receive_timeout" default:"2m" placeholder:"DURATION" help:"How long a request may take to arrive; a later one is refused with DEADLINE_EXCEEDED."`
	TenantRate             float64       `key:"tenant_rate" reload:"yes" default:"0" placeholder:"UNITS" help:"Units of cost that one tenant may use a second: 5 for Compress, Prepare and SimulateCache, 1 for the others, and 1 for every 64 KiB. 0: no bound."`
	TenantBurst            int           `key:"tenant_burst" reload:"yes" default:"200" placeholder:"UNITS" help:"Units of cost that one tenant may use at once after a pause, with limits.tenant_rate."`
	TenantConcurrency      int           `key:"tenant_concurrency" reload:"yes" default:"0" placeholder:"N" help:"Calls of one tenant at one time. 0: no bound."`
	TenantSummarizerTokens int           `key:"tenant_summarizer_tokens" reload:"yes" default:"0" placeholder:"TOKENS" help:"Tokens that summarizing models may read and write for one tenant in an hour; after that the embedded summarizer takes over. 0: no bound."`
	MaxDepth               int           `key:"max_depth" reload:"yes" default:"512" placeholder:"N" help:"Deepest nesting of values in a conversation."`
	MaxBlocks              int           `key:"max_blocks" reload:"yes" default:"200000" placeholder:"N" help:"Messages, blocks and tools of one conversation together."`
}

// Keepalive says how connections are kept.
type Keepalive struct {
	Time              time.Duration `key:"time" default:"1m" placeholder:"DURATION" help:"How long a silent connection waits before the server pings it."`
	Timeout           time.Duration `key:"timeout" default:"20s" placeholder:"DURATION" help:"How long the answer to a ping may take."`
	MinTime           time.Duration `key:"min_time" default:"10s" placeholder:"DURATION" help:"Shortest allowed time between a client's pings."`
	MaxConnectionIdle time.Duration `key:"max_connection_idle" default:"15m" placeholder:"DURATION" help:"Close connections that have had no call for that time; clients open a new one when they need it."`
	MaxConnectionAge  time.Duration `key:"max_connection_age" default:"0s" placeholder:"DURATION" help:"Close connections after that time, so that clients find new replicas. 0s: never."`
}

// Store says where summaries, compressions, cooldowns and budgets are kept.
type Store struct {
	MaxBytes          Bytes         `key:"max_bytes" default:"64MiB" placeholder:"BYTES" help:"Memory of the embedded store."`
	MaxEntries        int           `key:"max_entries" default:"100000" placeholder:"N" help:"Entries of the embedded store."`
	RedisURL          string        `key:"redis_url" secret:"yes" kong:"-" default:"" help:"Redis that several servers share: redis://USER:PASSWORD@HOST:PORT/DB, or rediss:// for TLS. The embedded store then serves while it is away. Empty: the embedded store alone."`
	RedisURLFile      string        `key:"redis_url_file" name:"redis-url-file" default:"" placeholder:"FILE" help:"File that holds store.redis_url, as secrets are mounted."`
	RedisTimeout      time.Duration `key:"redis_timeout" name:"redis-timeout" default:"100ms" placeholder:"DURATION" help:"How long one operation of Redis may take before the embedded store serves."`
	RedisPrefix       string        `key:"redis_prefix" name:"redis-prefix" default:"elbowroom:" placeholder:"TEXT" help:"What every key in Redis begins with. Servers that share it share everything else."`
	EncryptionKeyFile string        `key:"encryption_key_file" default:"" placeholder:"FILE" help:"File with the keys that encrypt what is kept in Redis, one a line of at least 32 characters. The first encrypts, all decrypt. Empty: nothing is encrypted."`
}
