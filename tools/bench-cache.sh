#!/usr/bin/env bash
# Installs litellm and LangChain into BENCH_CACHE_PEERS (default bin/peers; about 500 MB), then runs bench/cache with the
# arguments given. Where Python is missing or nothing can be installed, the bench runs without them and says so; with
# CI=true it fails instead.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=bench/cache/peers
target=${BENCH_CACHE_PEERS:-bin/peers}

without() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  exec go run ./bench/cache -skipped "$1" "${@:2}"
}
command -v python3 >/dev/null || without 'python3 is missing' "$@"
python3 -c 'import ensurepip, venv' 2>/dev/null || without 'python3 has no venv' "$@"

# Installed anew only when a pin or Python changes.
key=$target/.installed-$(cat "$sources/requirements.txt" <(python3 --version) | cksum | tr -s ' ' '-')
if [ ! -e "$key" ]; then
  echo "installing litellm and LangChain into $target; the first time takes a minute" >&2
  rm -rf "$target/python" "$target"/.installed-*
  mkdir -p "$target"
  python3 -m venv "$target/python"
  "$target/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$sources/requirements.txt" >&2 ||
    without 'pip cannot install them' "$@"
  touch "$key"
fi

exec go run ./bench/cache -python "$target/python/bin/python" "$@"
