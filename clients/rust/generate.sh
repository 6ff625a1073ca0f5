#!/usr/bin/env bash
# Writes src/generated from the proto files. No protoc is needed. test.sh compares protos.sha256, which is quicker than writing it again.
set -euo pipefail
cd "$(dirname "$0")"

cargo run --quiet --locked --manifest-path generate/Cargo.toml
rustfmt --edition 2024 src/generated/elbowroom.v1.rs
(cd ../.. && sha256sum proto/elbowroom/v1/*.proto) >src/generated/protos.sha256
