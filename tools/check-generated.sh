#!/usr/bin/env bash
# Fails if gen/ differs in any way from what proto/ generates: changed, missing or left-over files. Changes nothing.
# Usage: BUF=path/to/buf tools/check-generated.sh
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/generate.sh "$fresh"
if ! diff --recursive --brief gen "$fresh/gen"; then
  echo 'gen/ is stale: run "make generate" and commit the result' >&2
  exit 1
fi
if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && [ "${CI:-}" = true ] && [ -n "$(git status --porcelain -- gen)" ]; then
  git status --short -- gen
  echo 'gen/ is not committed' >&2
  exit 1
fi
echo 'gen/ is what proto/ generates'
