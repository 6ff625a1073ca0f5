#!/usr/bin/env bash
# Writes src/generated from the repository's proto files. With --check it changes nothing and fails if they differ.
# Needs buf (of tools/npm, or BUF=path) and Maven, which fetches protoc and its gRPC plug-in for Linux or macOS.
set -euo pipefail
cd "$(dirname "$0")"
BUF=${BUF:-../../tools/npm/node_modules/.bin/buf}
protoc=4.36.2
grpc=1.83.1 # the newest whose plug-in could be had; its code runs with any newer grpc-java

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x86_64 ;;
  Linux-aarch64) platform=linux-aarch_64 ;;
  Darwin-*) platform=osx-aarch_64 ;;
  *) echo "generate.sh: no generators for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac

mkdir -p target/generators
for artifact in com.google.protobuf:protoc:$protoc io.grpc:protoc-gen-grpc-java:$grpc; do
  name=$(cut -d: -f2 <<<"$artifact")
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy \
    -Dartifact="$artifact:exe:$platform" -DoutputDirectory=target/generators -Dmdep.stripVersion=true
  mv -f "target/generators/$name-$platform.exe" "target/generators/$name"
  chmod +x "target/generators/$name"
done

# Java makes setJsonBytes of the field json_bytes, and once more of the field json. So the stubs know json_bytes as json_utf8;
# its number, and with it the wire, and its JSON name stay.
rm -rf target/proto
mkdir -p target/proto
cp -R ../../proto ../../third_party ../../buf.yaml target/proto/
conversation=target/proto/proto/elbowroom/v1/conversation.proto
sed -i.orig 's/bytes json_bytes = 3;/bytes json_utf8 = 3 [json_name = "jsonBytes"];/' "$conversation"
if cmp -s "$conversation" "$conversation.orig"; then
  echo 'generate.sh: conversation.proto has no json_bytes = 3 to rename' >&2
  exit 1
fi
rm "$conversation.orig"

if [ "${1:-}" != --check ]; then
  "$BUF" generate
  exit
fi
rm -rf target/fresh
"$BUF" generate --output target/fresh
if ! diff --recursive --brief src/generated target/fresh/src/generated; then
  echo 'clients/java/src/generated is stale: run clients/java/generate.sh and commit the result' >&2
  exit 1
fi
echo 'clients/java/src/generated is what proto/ generates'
