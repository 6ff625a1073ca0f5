#!/usr/bin/env bash
# Installs the packages that token counts are compared with into bin/oracles, then runs bench/tokens with the arguments
# given: `compare` or `speed`. Where npm or Python is missing it says so; with CI=true it fails instead.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=bench/tokens
target=bin/oracles

missing() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  echo "skipped: token counts of the tiktoken packages ($1)"
  exit 0
}
command -v npm >/dev/null || missing 'npm is missing'
command -v python3 >/dev/null || missing 'python3 is missing'
python3 -c 'import ensurepip, venv' 2>/dev/null || missing 'python3 has no venv'

# Installed anew only when a pin or Python changes.
key=$target/.installed-$(cat "$sources"/{package-lock.json,requirements.txt} <(python3 --version) | cksum | tr -s ' ' '-')
if [ ! -e "$key" ]; then
  rm -rf "$target"/{npm,python} "$target"/.installed-*
  mkdir -p "$target/npm"
  cp "$sources"/{package.json,package-lock.json} "$target/npm"
  npm ci --prefix "$target/npm" --ignore-scripts --no-audit --no-fund --silent
  python3 -m venv "$target/python"
  "$target/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$sources/requirements.txt"
  touch "$key"
fi

# What is measured on: books in many languages, from Debian.
books=$target/books
if [ "${1:-}" = speed ] && [ ! -e "$books/PACKAGES" ]; then
  command -v apt-get >/dev/null || missing 'the texts to measure on come from apt-get, which is missing'
  rm -rf "$books" && mkdir -p "$books"
  (cd "$books" && apt-get -qq -o APT::Sandbox::User=root download debian-handbook debian-reference-zh-cn debian-reference-ja) ||
    missing 'apt-get cannot get the texts to measure on; apt-get update may help'
  for package in "$books"/*.deb; do
    dpkg-deb -x "$package" "$books"
    # shellcheck disable=SC2016 # dpkg-deb's own variables
    dpkg-deb --showformat='${Package} ${Version}\n' --show "$package" >>"$books/packages"
    rm "$package"
  done
  mv "$books/packages" "$books/PACKAGES"
fi

go run ./bench/tokens "$@"
