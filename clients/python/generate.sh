#!/usr/bin/env bash
# Regenerates src/elbowroom/v1 from proto/. With --check it changes nothing and fails where the committed stubs are stale.
#
# The validation rules in the proto files are for servers. They are taken out of the descriptors first, because generated Python
# would otherwise need a top-level package `buf`, which belongs to the protovalidate package.
set -euo pipefail
cd "$(dirname "$0")"

tools=grpcio-tools==1.85.1
venv=.venv-generate
out=src
if [[ ${1:-} == --check ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi

installed() { "$venv/bin/python" -c 'from importlib.metadata import version; print("grpcio-tools==" + version("grpcio-tools"))' 2>/dev/null || true; }
if [[ $(installed) != "$tools" ]]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$tools"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"; [[ $out == src ]] || rm -rf "$out"' EXIT
protoc() { "$venv/bin/python" -m grpc_tools.protoc "$@"; }

protoc -I ../../proto -I ../../third_party/protovalidate --include_imports --include_source_info \
  --descriptor_set_out="$work/full.binpb" elbowroom/v1/context_service.proto elbowroom/v1/summarizer.proto
"$venv/bin/python" - "$work" <<'PY'
import pathlib
import sys

from google.protobuf import descriptor_pb2

work = pathlib.Path(sys.argv[1])
descriptors = descriptor_pb2.FileDescriptorSet.FromString((work / "full.binpb").read_bytes())


def strip(message: descriptor_pb2.DescriptorProto) -> None:
    message.ClearField("options")
    for field in message.field:
        field.ClearField("options")
    for oneof in message.oneof_decl:
        oneof.ClearField("options")
    for nested in message.nested_type:
        if not nested.options.map_entry:
            strip(nested)


for file in descriptors.file:
    if file.package == "elbowroom.v1":
        for message in file.message_type:
            strip(message)
        kept = [name for name in file.dependency if not name.startswith("buf/")]
        file.dependency[:] = kept
out = descriptor_pb2.FileDescriptorSet(file=[f for f in descriptors.file if not f.name.startswith("buf/")])
(work / "stripped.binpb").write_bytes(out.SerializeToString())
PY

mkdir -p "$out/elbowroom/v1"
rm -f "$out"/elbowroom/v1/*_pb2*.py "$out"/elbowroom/v1/*_pb2*.pyi
files=$(cd ../../proto && ls elbowroom/v1/*.proto)
# shellcheck disable=SC2086 # a list of files without spaces
protoc --descriptor_set_in="$work/stripped.binpb" --python_out="$out" --pyi_out="$out" $files
protoc --descriptor_set_in="$work/stripped.binpb" --grpc_python_out="$out" \
  elbowroom/v1/context_service.proto elbowroom/v1/summarizer.proto

if [[ $out != src ]]; then
  diff -r --exclude=__init__.py --exclude=__pycache__ "$out/elbowroom/v1" src/elbowroom/v1 ||
    { echo "src/elbowroom/v1 is stale: run clients/python/generate.sh" >&2; exit 1; }
fi
