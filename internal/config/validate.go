package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Validate checks what types cannot. Errors begin with the key.
func (c *Config) Validate() error {
	checks := []error{
		c.checkAddr("grpc_addr", c.GRPCAddr),
		c.checkHTTPAddr(),
		c.checkOrigins(),
		c.checkAdminAddr(),
		oneOf("log_level", c.LogLevel, "debug", "info", "warn", "error"),
		c.checkTLS(),
		c.checkAuth(),
		c.checkSummarizers(),
		positive("summarizer.attempt_timeout", c.Summarizer.AttemptTimeout),
		positive("summarizer.breaker_delay", c.Summarizer.BreakerDelay),
		atLeast("summarizer.retries", c.Summarizer.Retries, 0),
		positive("summarizer.call_limit", c.Summarizer.CallLimit),
		atLeast("summarizer.context_window", c.Summarizer.ContextWindow, 0),
		atLeast("summarizer.max_output_tokens", c.Summarizer.MaxOutputTokens, 1),
		share("compression.threshold", c.Compression.Threshold),
		share("compression.gateway_threshold", c.Compression.GatewayThreshold),
		between("compression.target_ratio", c.Compression.TargetRatio, 0.10, 0.80),
		atLeast("compression.protect_last_n", c.Compression.ProtectLastN, 0),
		atLeast("compression.unknown_window", c.Compression.UnknownWindow, 1),
		c.checkModelThresholds(),
		oneOf("prompt_caching.cache_ttl", c.PromptCaching.CacheTTL, "5m", "1h"),
		c.checkCountProviders(),
		positive("count.timeout", c.Count.Timeout),
		atLeast("count.concurrency", c.Count.Concurrency, 1),
		c.checkMessageBytes(),
		atLeast("limits.max_concurrent_calls", c.Limits.MaxConcurrentCalls, 0),
		atLeast("limits.max_working_calls", c.Limits.MaxWorkingCalls, 0),
		atLeast("limits.max_concurrent_streams", c.Limits.MaxConcurrentStreams, 1),
		atLeast("limits.max_connections", c.Limits.MaxConnections, 0),
		positive("limits.handshake_timeout", c.Limits.HandshakeTimeout),
		positive("limits.receive_timeout", c.Limits.ReceiveTimeout),
		atLeast("limits.tenant_rate", c.Limits.TenantRate, 0),
		atLeast("limits.tenant_burst", c.Limits.TenantBurst, 1),
		atLeast("limits.tenant_concurrency", c.Limits.TenantConcurrency, 0),
		atLeast("limits.tenant_summarizer_tokens", c.Limits.TenantSummarizerTokens, 0),
		atLeast("limits.max_depth", c.Limits.MaxDepth, 1),
		atLeast("limits.max_blocks", c.Limits.MaxBlocks, 1),
		positive("keepalive.time", c.Keepalive.Time),
		positive("keepalive.timeout", c.Keepalive.Timeout),
		positive("keepalive.min_time", c.Keepalive.MinTime),
		positive("keepalive.max_connection_idle", c.Keepalive.MaxConnectionIdle),
		notNegative("keepalive.max_connection_age", c.Keepalive.MaxConnectionAge),
		atLeast("store.max_bytes", c.Store.MaxBytes, mib),
		atLeast("store.max_entries", c.Store.MaxEntries, 1),
		c.checkRedis(),
		positive("store.redis_timeout", c.Store.RedisTimeout),
		positive("shutdown_timeout", c.ShutdownTimeout),
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAddr lets nothing but this machine in where nobody is authenticated, unless
// told so.
func (c *Config) checkAddr(key, value string) error {
	host, _, err := net.SplitHostPort(value)
	if err != nil {
		return fmt.Errorf("%s: %q is not of the form HOST:PORT", key, value)
	}
	if c.Insecure || c.Auth.Enabled() || IsLoopback(host) {
		return nil
	}
	return fmt.Errorf("%s: %s can be reached from other machines and callers are not authenticated; "+
		"use 127.0.0.1, set auth.tokens_file, auth.jwt_issuer or auth.certificates, or add --insecure (insecure: true) where the network keeps strangers out", key, value)
}

func (c *Config) checkHTTPAddr() error {
	if c.HTTPAddr == "" {
		return nil
	}
	return c.checkAddr("http_addr", c.HTTPAddr)
}

// checkAdminAddr takes any address: nothing of a conversation is told there, and
// profiles only on loopback.
func (c *Config) checkAdminAddr() error {
	if c.AdminAddr == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(c.AdminAddr); err != nil {
		return fmt.Errorf("admin_addr: %q is not of the form HOST:PORT", c.AdminAddr)
	}
	return nil
}

// checkOrigins takes origins as browsers send them: without a path, not even a slash.
func (c *Config) checkOrigins() error {
	for _, origin := range c.HTTP.AllowedOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin) {
			return fmt.Errorf("http.allowed_origins: %q is not of the form https://HOST[:PORT]", origin)
		}
	}
	return nil
}

// IsLoopback reports whether a host names this machine and nothing else. A name
// other than localhost is not looked up and does not.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func (c *Config) checkTLS() error {
	switch t := c.TLS; {
	case (t.CertFile == "") != (t.KeyFile == ""):
		return fmt.Errorf("tls: cert_file and key_file go together")
	case t.CertFile == "" && t.ClientCAFile != "":
		return fmt.Errorf("tls.client_ca_file: without tls.cert_file there is no TLS")
	default:
		return oneOf("tls.client_auth", t.ClientAuth, "require", "optional")
	}
}

func (c *Config) checkAuth() error {
	switch a := c.Auth; {
	case a.JWTIssuer != "" && a.JWTAudience == "":
		return fmt.Errorf("auth.jwt_audience: it must be set with auth.jwt_issuer, or tokens meant for other services would be accepted")
	case a.JWTIssuer == "" && (a.JWTAudience != "" || a.JWTKeysURL != ""):
		return fmt.Errorf("auth.jwt_issuer: it must be set with auth.jwt_audience and auth.jwt_keys_url")
	case a.JWTTenantClaim == "":
		return fmt.Errorf("auth.jwt_tenant_claim: it names no claim")
	case a.Certificates && c.TLS.ClientCAFile == "":
		return fmt.Errorf("auth.certificates: tls.client_ca_file must say who signs them")
	default:
		return oneOf("auth.reflection", a.Reflection, "open", "authenticated")
	}
}

func (c *Config) checkSummarizers() error {
	if len(c.Summarizers) == 0 {
		return fmt.Errorf("summarizers: at least one is needed; built in is extractive")
	}
	for i, name := range c.Summarizers {
		kind, rest, _ := strings.Cut(name, ":")
		known := name == "extractive" || rest != "" && (kind == "openai" || kind == "anthropic" || kind == "plugin")
		if !known {
			return fmt.Errorf("summarizers: %q is none of openai:MODEL, anthropic:MODEL, plugin:HOST:PORT, extractive", name)
		}
		if slices.Contains(c.Summarizers[:i], name) {
			return fmt.Errorf("summarizers: %q is listed twice", name)
		}
	}
	return nil
}

func (c *Config) checkCountProviders() error {
	for i, name := range c.Count.Providers {
		if err := oneOf("count.providers", name, "anthropic", "openai", "gemini"); err != nil {
			return err
		}
		if slices.Contains(c.Count.Providers[:i], name) {
			return fmt.Errorf("count.providers: %q is listed twice", name)
		}
	}
	return nil
}

func (c *Config) checkModelThresholds() error {
	names := make([]string, 0, len(c.Compression.ModelThresholds))
	for name := range c.Compression.ModelThresholds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := share("compression.model_thresholds: "+name, c.Compression.ModelThresholds[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkMessageBytes() error {
	const most = 1 << 31 // what one protobuf message can hold
	switch l := c.Limits; {
	case l.MaxMessageBytes < kib || l.MaxMessageBytes >= most:
		return fmt.Errorf("limits.max_message_bytes: %v is not between 1KiB and 2GiB", l.MaxMessageBytes)
	case l.MaxInFlightBytes < l.MaxMessageBytes:
		return fmt.Errorf("limits.max_in_flight_bytes: %v has no room for one message of limits.max_message_bytes, %v", l.MaxInFlightBytes, l.MaxMessageBytes)
	default:
		return nil
	}
}

func (c *Config) checkRedis() error {
	switch s := c.Store; {
	case s.RedisURL != "" && s.RedisURLFile != "":
		return fmt.Errorf("store.redis_url: it is set and store.redis_url_file is too")
	case s.RedisPrefix == "":
		return fmt.Errorf("store.redis_prefix: it is empty, and keys of others would be met")
	default:
		return nil
	}
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %s", key, value, strings.Join(allowed, ", "))
}

func share(key string, x float64) error {
	if x > 0 && x <= 1 {
		return nil
	}
	return fmt.Errorf("%s: %v is not above 0 and up to 1", key, x)
}

func between(key string, x, low, high float64) error {
	if x >= low && x <= high {
		return nil
	}
	return fmt.Errorf("%s: %v is not between %v and %v", key, x, low, high)
}

func atLeast[N int | float64 | Bytes](key string, n, least N) error {
	if n >= least {
		return nil
	}
	return fmt.Errorf("%s: %v is less than %v", key, n, least)
}

func positive(key string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return fmt.Errorf("%s: %v is not a positive duration", key, d)
}

func notNegative(key string, d time.Duration) error {
	if d >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %v is a negative duration", key, d)
}
