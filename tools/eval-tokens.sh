#!/usr/bin/env bash
# Installs the tokenizers of other models into bin/vocabularies, then runs evals/tokens with the arguments given. Where
# npm or a Python of 3.12 or later (another one: PYTHON=...) is missing it says so; with CI=true it fails instead.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=evals/tokens
target=bin/vocabularies

missing() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  echo "skipped: accuracy of token counts ($1)"
  exit 0
}
command -v npm >/dev/null || missing 'npm is missing'
python=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12}; do
  if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || missing 'ctok needs Python 3.12 or later with venv'

# Installed anew only when a pin or Python changes.
key=$target/.installed-$(cat "$sources"/{package-lock.json,requirements.txt} <("$python" --version) | cksum | tr -s ' ' '-')
if [ ! -e "$key" ]; then
  rm -rf "$target"
  mkdir -p "$target/npm"
  cp "$sources"/{package.json,package-lock.json} "$target/npm"
  npm ci --prefix "$target/npm" --ignore-scripts --no-audit --no-fund --silent
  "$python" -m venv "$target/python"
  "$target/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$sources/requirements.txt"
  touch "$key"
fi

go run ./evals/tokens "$@"
