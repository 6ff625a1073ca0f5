#!/usr/bin/env bash
# Runs all tests: those of the clients in other languages, then all Go tests. What cannot run here is named; with CI=true it fails
# instead. Arguments are passed to go test.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  echo "skipped: $2 ($1)"
}

race=(-race)
compiler=$(go env CC)
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "${compiler%% *}" >/dev/null; then
  missing 'there is no C compiler' 'the race detector'
  race=()
fi
if [ ! -d ../shared/data ]; then
  missing '../shared/data does not exist' 'tests over recorded conversations'
fi

# First, so that the verdict of go test closes the output.
tools/clients.sh test

set -x
go test ${race[@]+"${race[@]}"} -timeout 20m "$@" ./...
