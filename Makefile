# `make` or `make help` lists the targets. demo and test need Go only; lint and generate need buf, which comes from npm where
# Node is installed and is built from source where it is not. Tools are pinned in tools/ and land in bin/ (not committed).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules --no-print-directory

# CI=true turns every "skipped: ..." of a missing tool into a failure.
CI ?=
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# Extra arguments for `go test`, for example TESTFLAGS='-run TestName -count=1'.
TESTFLAGS ?=
# How long each fuzz target runs, in Go's duration syntax.
FUZZTIME ?= 30s
# Which packages and benchmarks `make bench` runs. BENCHFLAGS: more arguments, for example -count=6.
BENCH_PACKAGES ?= $(if $(wildcard bench/*),./bench/...,./...)
BENCH ?= .
BENCHFLAGS ?=

# Built tools are keyed on the checksum of what pins them, not on file times, so a cached bin/ stays valid in a new clone.
key = $(shell cksum < tools/$(1)/go.sum | tr -s ' ' '-')
GOLANGCI_LINT := bin/golangci-lint
GOLANGCI_LINT_KEY := bin/.golangci-lint-$(call key,lint)
GRPCURL_KEY := bin/.grpcurl-$(call key,grpcurl)
GOVULNCHECK_KEY := bin/.govulncheck-$(call key,vuln)
ifneq ($(shell command -v npm),)
BUF := tools/npm/node_modules/.bin/buf
BUF_READY := tools/npm/node_modules/.package-lock.json
else
BUF := bin/buf
BUF_READY := bin/.buf-$(call key,buf)
endif

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: ## See what the service does: no key, no configuration, no network.
	@go run ./cmd/elbowroom demo

.PHONY: build
build: ## Build the static binary bin/elbowroom.
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/elbowroom ./cmd/elbowroom

.PHONY: test
test: ## Run all tests, clients included, with the race detector where there is a C compiler.
	@tools/test.sh $(TESTFLAGS)

# CLIENTS='python rust': only these.
CLIENTS ?=
.PHONY: test-clients
test-clients: ## Run the clients' tests, in every language whose tools are there, against the real server.
	@tools/clients.sh test $(CLIENTS)

.PHONY: test-oracles
test-oracles: ## Compare token counts with the tiktoken packages of npm and Python.
	@tools/oracles.sh compare

# Some minutes. CHAOSFLAGS: for example '-rounds 5 -clients 16'. `make test` lets the quick faults happen, once.
CHAOSFLAGS ?= -rounds 2 -clients 8
.PHONY: chaos
chaos: ## Kill, drain, starve and mislead a loaded server in turn, twice (needs redis-server).
	go test -count=1 -timeout 20m -v ./tests/chaos -all $(CHAOSFLAGS)

# The first run installs both, which takes some minutes.
.PHONY: test-peers
test-peers: ## Run LiteLLM's proxy and Hermes Agent themselves against the service (needs Python).
	@tools/test-peers.sh

# The first run builds llama.cpp, which takes some minutes.
.PHONY: test-llm
test-llm: ## Run the summarizer backends against a small real model (needs Python and a C++ compiler).
	@tools/test-llm.sh

# Some three minutes. LOADFLAGS: more arguments, for example '-seconds 10 -clients 16'; behind a -- those of the server.
LOADFLAGS ?=
.PHONY: load
load: ## Drive a real server with what agents send, at its capacity and at three times it.
	@go run ./tests/load $(LOADFLAGS)

.PHONY: image-check
image-check: ## Build the image and run it, with buildah in place of a Docker engine.
	@tools/image.sh

.PHONY: lint
lint: lint-go lint-proto lint-shell lint-deploy lint-vulnerabilities ## Check formatting, style, import direction, proto rules, shell scripts, deploy/.

.PHONY: lint-go
lint-go: $(GOLANGCI_LINT_KEY)
	@unformatted=$$(find . -name '*.go' -not -path './gen/*' -not -path '*/node_modules/*' -exec gofmt -l {} +); \
	if [ -n "$$unformatted" ]; then printf 'not formatted (make fmt):\n%s\n' "$$unformatted" >&2; exit 1; fi
	go mod tidy -diff
	go vet ./...
	$(GOLANGCI_LINT) run ./...

.PHONY: lint-proto
lint-proto: $(BUF_READY)
	$(BUF) lint
	$(BUF) format --diff --exit-code
	@BUF='$(BUF)' tools/breaking.sh

.PHONY: lint-shell
lint-shell:
	@if command -v shellcheck >/dev/null; then set -x; shellcheck .ci/run tools/*.sh clients/*/*.sh; \
	elif [ "$(CI)" = true ]; then echo 'shellcheck is missing and CI=true' >&2; exit 1; \
	else echo 'skipped: shellcheck is not installed'; fi

# The first time builds the types of Kubernetes, Envoy, compose, Prometheus and the collector, which takes some minutes. Never from
# the cache of results, which does not see files outside of the module.
.PHONY: lint-deploy
lint-deploy:
	go test -C tools/deploy -vet=all -count=1 ./...

# The database of known vulnerabilities is fetched at run time; without a network nothing can be said.
.PHONY: lint-vulnerabilities
lint-vulnerabilities:
	@if curl --fail --silent --max-time 5 --output /dev/null https://vuln.go.dev/index/db.json 2>/dev/null; then \
	$(MAKE) $(GOVULNCHECK_KEY); set -x; bin/govulncheck ./...; \
	else echo 'skipped: govulncheck, its database cannot be reached'; fi

.PHONY: fmt
fmt: $(BUF_READY) ## Format Go and proto files in place.
	gofmt -l -w $$(find . -name '*.go' -not -path './gen/*' -not -path '*/node_modules/*')
	$(BUF) format --write

.PHONY: generate
generate: $(BUF_READY) ## Write gen/ anew from proto/.
	@BUF='$(BUF)' tools/generate.sh .

.PHONY: check-generated
check-generated: $(BUF_READY) ## Fail if gen/ is not what proto/ generates.
	@BUF='$(BUF)' tools/check-generated.sh

.PHONY: bench
bench: ## Run the benchmarks; choose with BENCH_PACKAGES, BENCH and BENCHFLAGS.
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(BENCHFLAGS) $(BENCH_PACKAGES)

# Some minutes. BENCHTOKENSFLAGS: more arguments, for example '-rounds 9'.
BENCHTOKENSFLAGS ?=
.PHONY: bench-tokens
bench-tokens: ## Measure token counting against the tiktoken packages of npm and Python.
	@tools/oracles.sh speed $(BENCHTOKENSFLAGS)

# Some minutes. BENCHCACHEFLAGS: more arguments, for example '-model claude-opus-5 -only cc-go'.
BENCHCACHEFLAGS ?=
.PHONY: bench-cache
bench-cache: ## Replay the recorded conversations under every placement of cache breakpoints, ours and other people's.
	@tools/bench-cache.sh $(BENCHCACHEFLAGS)

# Some minutes. EVALTOKENSFLAGS='agreement' compares the counts for Claude with ctok's instead, 'golden' writes the golden file.
EVALTOKENSFLAGS ?= accuracy
.PHONY: eval-tokens
eval-tokens: ## Compare token counts with the tokenizers of other models.
	@tools/eval-tokens.sh $(EVALTOKENSFLAGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME each (default 30s).
	@FUZZTIME='$(FUZZTIME)' tools/fuzz.sh

# How many, and which; a failure names its number, which FUZZWIREFLAGS='-only NUMBER' repeats.
REQUESTS ?= 100000
SEED ?= 1
FUZZWIREFLAGS ?=
.PHONY: fuzz-wire
fuzz-wire: ## Fuzz the server over the wire with REQUESTS requests (default 100,000) and judge every answer.
	@mkdir -p $(CURDIR)/bin/fuzz-wire
	go test ./tests/fuzzwire -count=1 -timeout 60m -v -requests $(REQUESTS) -seed $(SEED) -failures $(CURDIR)/bin/fuzz-wire $(FUZZWIREFLAGS)

.PHONY: tools
tools: $(GOLANGCI_LINT_KEY) $(GRPCURL_KEY) $(BUF_READY) ## Get the pinned tools: golangci-lint, grpcurl, buf.

# $(1): command, $(2): folder in tools/, $(3): package. Each tool has a go.mod of its own, apart from the service's modules.
define build-tool
	@echo 'building $(1); the first time takes some minutes'
	@mkdir -p bin && rm -f bin/.$(1)-*
	@go build -C tools/$(2) -trimpath -o ../../bin/$(1) $(3)
	@touch $@
endef

$(GOLANGCI_LINT_KEY):
	$(call build-tool,golangci-lint,lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

$(GRPCURL_KEY):
	$(call build-tool,grpcurl,grpcurl,github.com/fullstorydev/grpcurl/cmd/grpcurl)

$(GOVULNCHECK_KEY):
	$(call build-tool,govulncheck,vuln,golang.org/x/vuln/cmd/govulncheck)

bin/.buf-%:
	$(call build-tool,buf,buf,github.com/bufbuild/buf/cmd/buf)

tools/npm/node_modules/.package-lock.json: tools/npm/package-lock.json
	@cd tools/npm && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@
