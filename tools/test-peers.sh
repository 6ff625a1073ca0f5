#!/usr/bin/env bash
# Runs real peers against the service: the LiteLLM proxy with a guardrail that calls POST /v1/compress, and Hermes Agent with the
# plugin of examples/hermes-plugin. Doubles stand for the models; everything is on loopback. The packages are pinned and live in
# bin/peers (not committed); the first run installs them, which takes some minutes. Without Python it says so; with CI=true it
# fails instead. `tools/test-peers.sh hermes`: only what begins with that. ELBOWROOM_BIN: a server in place of one that is built here.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  echo "skipped: LiteLLM and Hermes Agent against the service ($1)"
  exit 0
}
python=${PYTHON:-python3}
command -v "$python" >/dev/null || missing "$python is missing"
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing "$python has no venv"
# What Hermes Agent takes.
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || missing "$python is not 3.11 to 3.13"

if [ -z "${ELBOWROOM_BIN:-}" ]; then
  mkdir -p bin
  CGO_ENABLED=0 go build -trimpath -o bin/elbowroom ./cmd/elbowroom
  ELBOWROOM_BIN=$PWD/bin/elbowroom
fi
export ELBOWROOM_BIN

# install NAME REQUIREMENTS [PACKAGE...]: makes bin/peers/NAME anew when a pin, one of our packages or Python changes.
install() {
  local venv=bin/peers/$1 requirements=$2 stamp
  shift 2
  stamp=$(cat "$requirements" "${@/%//pyproject.toml}" <("$python" --version) <(pwd -P) | cksum)
  if [ -f "$venv/stamp" ] && [ "$(cat "$venv/stamp")" = "$stamp" ]; then
    return
  fi
  echo "installing $requirements; this takes a while"
  "$python" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements"
  if [ $# -gt 0 ]; then
    # Ours are used where they stand, so that a change needs no installation.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "${@/#/--editable=}"
  fi
  echo "$stamp" >"$venv/stamp"
}

# run NAME TESTS
run() {
  echo "== $1"
  "bin/peers/$1/bin/python" -m pytest -q -ra -p no:cacheprovider --rootdir=tests/peers "$2"
}

only=${1:-}
ran=
for peer in litellm-headroom litellm-current hermes; do
  [[ $peer == "$only"* ]] || continue
  ran=1
  case $peer in
    litellm-headroom) install $peer tests/peers/litellm/requirements-headroom.txt ;;
    litellm-current) install $peer tests/peers/litellm/requirements-current.txt ;;
    hermes) install $peer tests/peers/hermes/requirements.txt clients/python examples/hermes-plugin ;;
  esac
  case $peer in
    litellm-*) run $peer "tests/peers/litellm/test_${peer#litellm-}.py" ;;
    hermes) run $peer tests/peers/hermes ;;
  esac
done
if [ -z "$ran" ]; then
  echo "there is no peer $only" >&2
  exit 2
fi
