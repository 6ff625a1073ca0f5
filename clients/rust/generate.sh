#!/usr/bin/env bash
# Writes src/generated from the proto files. With --check: fails when that would change what is there.
set -euo pipefail
cd "$(dirname "$0")"

cargo run --quiet --locked --manifest-path generate/Cargo.toml
rustfmt --edition 2024 src/generated/elbowroom.v1.rs
if [[ "${1:-}" == --check ]]; then
  git diff --exit-code --stat -- src/generated
fi
