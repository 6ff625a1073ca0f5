#!/usr/bin/env bash
# Writes gen/ under the folder given: Go from both plugins, the descriptor set for tools that want no source files, and the OpenAPI
# document of the HTTP edge.
# Usage: BUF=path/to/buf tools/generate.sh OUT
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1

"$BUF" generate --output "$out"
mkdir -p "$out/gen/descriptor"
# Without source locations: a changed comment then changes no bytes here.
"$BUF" build proto --as-file-descriptor-set --exclude-source-info --output "$out/gen/descriptor/elbowroom.binpb"

# The document takes its texts from the comments.
commented=$(mktemp)
trap 'rm -f "$commented"' EXIT
"$BUF" build proto --as-file-descriptor-set --output "$commented#format=binpb"
go run ./internal/tools/openapi "$commented" "$out/gen/openapi"
