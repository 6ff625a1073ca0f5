#!/usr/bin/env bash
# Runs every fuzz target of every package, one after the other, each for $FUZZTIME (default 30s). A failure does not
# end the run, so that one run shows them all; the failing inputs are left in the packages' testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

# `go test -list` prints the names of a package's targets, then one line "ok <package> <time>". Anything else but
# "? <package> [no test files]" is an error.
targets=$(go test -list '^Fuzz' ./... | awk '
  /^Fuzz/ { names[++n] = $1; next }
  $1 == "ok" { for (i = 1; i <= n; i++) print $2, names[i]; n = 0; next }
  $1 != "?" { print > "/dev/stderr" }')
if [ -z "$targets" ]; then
  echo 'no fuzz targets' >&2
  exit 1
fi

failed=()
total=0
while read -r package target; do
  total=$((total + 1))
  echo "== $target in $package, ${FUZZTIME:-30s}"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "$package" </dev/null || failed+=("$package $target")
done <<<"$targets"

echo "$((total - ${#failed[@]})) of $total fuzz targets found nothing"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
