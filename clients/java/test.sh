#!/usr/bin/env bash
# Builds the Java client and runs its tests, with nothing but Maven. They run against ELBOWROOM_ADDR (a server) or ELBOWROOM_BIN
# (a binary to start); default: bin/elbowroom of this repository. Arguments go to Maven: test.sh -o works without a network.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  if [ "${CI:-}" = true ]; then
    echo 'clients/java: Maven and a JDK of Java 17 or later are needed' >&2
    exit 1
  fi
  echo 'skipped: clients/java needs Maven and a JDK of Java 17 or later'
  exit 0
fi
if [ -z "${ELBOWROOM_ADDR:-}" ] && [ -z "${ELBOWROOM_BIN:-}" ] && [ -x ../../bin/elbowroom ]; then
  ELBOWROOM_BIN=$(cd ../../bin && pwd)/elbowroom
  export ELBOWROOM_BIN
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! mvn -B -Dstyle.color=never --no-transfer-progress "$@" verify >"$log" 2>&1; then
  grep -E '^\[(ERROR|WARNING)\]|^skipped' "$log" | head -100 >&2 || tail -50 "$log" >&2
  exit 1
fi
grep '^skipped' "$log" | sort -u || true
grep 'Tests run:' "$log" | tail -1 | sed 's/^\[[A-Z]*\] */clients\/java: /'
