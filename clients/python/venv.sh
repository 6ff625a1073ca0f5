#!/usr/bin/env bash
# Makes the environment of the tests in .venv, or leaves it where it is the one wanted.
set -euo pipefail
cd "$(dirname "$0")"

venv=.venv
stamp=$(cat pyproject.toml requirements.txt | cksum)
if [[ ! -f $venv/stamp ]] || [[ $(cat "$venv/stamp") != "$stamp" ]]; then
  "${PYTHON:-python3}" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c requirements.txt -e '.[test]'
  echo "$stamp" >"$venv/stamp"
fi
