#!/usr/bin/env bash
# Generates src/gen from ../../proto. With --check: fails if src/gen is not what ../../proto generates.
set -euo pipefail
cd "$(dirname "$0")"

[ -d node_modules ] || npm ci --no-audit --no-fund
if [ "${1:-}" != "--check" ]; then
  exec npx --no-install buf generate --template buf.gen.yaml
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
npx --no-install buf generate --template buf.gen.yaml --output "$fresh"
if ! diff -r "$fresh/src/gen" src/gen >/dev/null; then
  echo "src/gen is not what ../../proto generates: run clients/typescript/generate.sh" >&2
  exit 1
fi
