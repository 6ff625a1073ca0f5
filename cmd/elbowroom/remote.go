package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// The environment of a caller. A secret is no flag: flags are seen by everybody on
// the machine.
const (
	tokenVariable     = "ELBOWROOM_TOKEN"
	tokenFileVariable = "ELBOWROOM_TOKEN_FILE"
)

// remote are the flags that say how a server is reached.
type remote struct {
	TLS    bool   `name:"tls" help:"Reach the server by TLS, with the system's authorities. A bearer token is taken from $ELBOWROOM_TOKEN or the file in $ELBOWROOM_TOKEN_FILE."`
	CAFile string `name:"ca-file" placeholder:"FILE" help:"Reach the server by TLS, with the authorities in this file (PEM)."`
}

// dialOptions secures a connection and names the caller.
func (r remote) dialOptions(p process) ([]grpc.DialOption, error) {
	creds := insecure.NewCredentials()
	if r.TLS || r.CAFile != "" {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if r.CAFile != "" {
			pem, err := os.ReadFile(r.CAFile)
			if err != nil {
				return nil, &usageError{fmt.Errorf("--ca-file: %w", err)}
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, &usageError{fmt.Errorf("--ca-file: %s holds no certificate in PEM", r.CAFile)}
			}
		}
		creds = credentials.NewTLS(config)
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(creds)}
	token, err := callerToken(p)
	if err != nil {
		return nil, err
	}
	if token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
	}
	return options, nil
}

func callerToken(p process) (string, error) {
	if token := p.variable(tokenVariable); token != "" {
		return token, nil
	}
	file := p.variable(tokenFileVariable)
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", &usageError{fmt.Errorf("%s: %w", tokenFileVariable, err)}
	}
	return strings.TrimSpace(string(text)), nil
}

// bearer is a token that goes with every call. It goes without TLS too: on loopback
// there is nobody to hide it from, and elsewhere the user chose to.
type bearer string

var _ credentials.PerRPCCredentials = bearer("")

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (b bearer) RequireTransportSecurity() bool { return false }
