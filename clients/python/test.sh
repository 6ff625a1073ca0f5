#!/usr/bin/env bash
# Tests, types and lint of the Python client, from a clean clone. The tests want a server: ELBOWROOM_ADDR (one that runs) or
# ELBOWROOM_BIN (a binary to start). Without either they are skipped, unless CI=true.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}
if ! "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  [[ ${CI:-} != true ]] || { echo "clients/python: Python 3.10 or newer with venv is missing" >&2; exit 1; }
  echo "skipped: clients/python needs Python 3.10 or newer with venv"
  exit 0
fi

./venv.sh
venv=.venv
examples=../../examples/python
"$venv/bin/ruff" check --quiet . "$examples"
"$venv/bin/ruff" format --quiet --check . "$examples"
"$venv/bin/mypy" --no-error-summary
MYPYPATH=tests "$venv/bin/mypy" --no-error-summary tests "$examples"
"$venv/bin/pytest" "$@"
