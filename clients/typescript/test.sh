#!/usr/bin/env bash
# Installs, checks and tests the TypeScript client and its examples. Needs Node 20.11 and npm. ELBOWROOM_BIN names the
# server to test against.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 11) ? 0 : 1)'; then
  echo "skipped: the TypeScript client needs Node 20.11 or later with npm"
  [ "${CI:-}" != "true" ]
  exit
fi

npm ci --no-audit --no-fund
npm run --silent check
./generate.sh --check
npm test
npm run --silent build
exec ../../examples/typescript/test.sh
