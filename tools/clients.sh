#!/usr/bin/env bash
# Runs the tests of the clients against the real server: `tools/clients.sh test` all of them, `tools/clients.sh test python rust`
# some. Each client has a test.sh that sets up and runs its own and says `skipped: ...` where its toolchain is missing; with CI=true
# it fails then. Output is shown for what fails. ELBOWROOM_BIN: a server to use in place of one that is built here.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  echo "usage: tools/clients.sh test [language...]" >&2
  exit 2
}

[ "${1:-}" = test ] || usage
shift

languages=("$@")
if [ ${#languages[@]} -eq 0 ]; then
  for script in clients/*/test.sh; do
    languages+=("$(basename "$(dirname "$script")")")
  done
fi

if [ -z "${ELBOWROOM_BIN:-}" ]; then
  mkdir -p bin
  CGO_ENABLED=0 go build -trimpath -o bin/elbowroom ./cmd/elbowroom
  ELBOWROOM_BIN=$PWD/bin/elbowroom
fi
export ELBOWROOM_BIN
# Servers that run side by side must not want the one default port of the HTTP edge.
export ELBOWROOM_HTTP_ADDR=

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=() skipped=() failed=()
for language in "${languages[@]}"; do
  script=clients/$language/test.sh
  if [ ! -f "$script" ]; then
    echo "clients: there is no $script" >&2
    failed+=("$language")
    continue
  fi
  before=$SECONDS
  if bash "$script" >"$log" 2>&1; then
    last=$(tail -n 1 "$log")
    if [[ $last == 'skipped: '* ]]; then
      skipped+=("$language (${last#skipped: })")
    else
      passed+=("$language ($((SECONDS - before)) s)")
      sed -n "s/^skipped: /clients: $language skipped: /p" "$log" # a part of them
    fi
  else
    printf 'clients: %s failed:\n' "$language" >&2
    cat "$log" >&2
    failed+=("$language")
  fi
done

list() {
  local IFS=';'
  local joined="$*"
  echo "${joined//;/, }"
}

line="clients: ${#passed[@]} passed"
[ ${#passed[@]} -eq 0 ] || line+=": $(list "${passed[@]}")"
[ ${#skipped[@]} -eq 0 ] || line+="; skipped: $(list "${skipped[@]}")"
[ ${#failed[@]} -eq 0 ] || line+="; FAILED: $(list "${failed[@]}")"
echo "$line"
[ ${#failed[@]} -eq 0 ]
