package httpapi

import "time"

// HeaderTimeout is what the HTTP server was given.
func (s *Server) HeaderTimeout() time.Duration { return s.http.ReadHeaderTimeout }

// Held is how many bytes of bodies are being held.
func (s *Server) Held() int64 { return s.held.used.Load() }
