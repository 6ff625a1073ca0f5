#!/usr/bin/env bash
# Installs, checks and tests the examples. Needs the client in ../../clients/typescript to be built, and builds it if it is not.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
  echo "skipped: the TypeScript examples need Node with npm"
  [ "${CI:-}" != "true" ]
  exit
fi

if [ ! -d ../../clients/typescript/dist ]; then
  (cd ../../clients/typescript && npm ci --no-audit --no-fund && npm run --silent build)
fi
npm ci --no-audit --no-fund
npm run --silent check
exec npm test
