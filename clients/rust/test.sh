#!/usr/bin/env bash
# Formats, lints and tests the Rust client. Against the real service too where ELBOWROOM_ADDR or ELBOWROOM_BIN is set, or bin/elbowroom is
# built.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
  echo "skipped: clients/rust needs cargo"
  [[ "${CI:-}" != true ]]
  exit
fi
if [[ -z "${ELBOWROOM_ADDR:-}${ELBOWROOM_BIN:-}" && -x ../../bin/elbowroom ]]; then
  ELBOWROOM_BIN="$(cd ../.. && pwd)/bin/elbowroom"
  export ELBOWROOM_BIN
fi

if ! (cd ../.. && sha256sum --check --quiet clients/rust/src/generated/protos.sha256); then
  echo "clients/rust/src/generated is older than the proto files: run clients/rust/generate.sh" >&2
  exit 1
fi
if cargo fmt --version >/dev/null 2>&1; then
  cargo fmt --check
fi
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --quiet --locked --all-targets --all-features -- -D warnings
  # What users may turn off must be able to be off.
  cargo clippy --quiet --locked --lib --no-default-features -- -D warnings
fi
cargo test --quiet --locked --all-features
