#!/usr/bin/env bash
# Builds the Dockerfile and runs the image, with buildah and no Docker engine. Nothing is pulled: the two base images are made here
# from this machine's Go and certificates and carry the names that the Dockerfile asks for. The modules and build results that this
# machine has are used, so only what they lack is fetched or built.
#
# Checked: with no settings the image refuses to be open to everybody; with tokens it serves as nobody's user, passes its own health
# check, answers a gRPC call, refuses one without a token, and stops on SIGTERM with exit code 0.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
  if [ "${CI:-}" = true ]; then
    echo "CI=true and $1" >&2
    exit 1
  fi
  echo "skipped: the image ($1)"
  exit 0
}

[ "$(uname -s)" = Linux ] || missing 'it needs Linux'
command -v buildah >/dev/null || missing 'buildah is not installed; Debian has it as a package'
command -v jq >/dev/null || missing 'jq is not installed'
[ "$(id -u)" = 0 ] || missing 'chroot isolation needs root'
certificates=/etc/ssl/certs/ca-certificates.crt
[ -s "$certificates" ] || missing "there is no $certificates"

work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot TMPDIR=$work
command=()
# The servers that run in the image: buildah run is not the server, its process is, and signals go there.
servers() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(tr '\0' ' ' <"$process/cmdline")" = "${command[*]} " ] &&
      grep --quiet --null-data --line-regexp --fixed-strings "IMAGE_CHECK=$work" "$process/environ"; then
      basename "$process"
    fi
  done 2>/dev/null
}
cleanup() {
  if [ ${#command[@]} -gt 0 ]; then servers | xargs --no-run-if-empty kill -KILL; fi
  buildah umount --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

buildah() { timeout "${limit:-900}" buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
say() { echo "image: $* ($SECONDS s)"; }
fail() {
  echo "image: $*" >&2
  for log in "$work"/*.log; do
    echo "--- $(basename "$log")" >&2
    tail -n 40 "$log" >&2
  done
  exit 1
}

# The names that the Dockerfile builds from, in its order.
go_version=$(sed -n 's/^ARG GO_VERSION=//p' Dockerfile)
bases=()
while read -r name; do bases+=("${name//\$\{GO_VERSION\}/$go_version}"); done < <(sed -n 's/^FROM \([^ ]*\).*/\1/p' Dockerfile)
[ ${#bases[@]} -eq 2 ] || fail "the Dockerfile has ${#bases[@]} stages, this script knows how to make two base images"
[[ $(go env GOVERSION) == "go$go_version"* ]] || fail "the Dockerfile builds with Go $go_version, this machine has $(go env GOVERSION)"

# $1: the program; it and the libraries it needs, each where it is on this machine.
copy_program() {
  local file
  while read -r file; do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
  done < <(echo "$1"; ldd "$1" | grep -o '/[^ ]*')
}

# The build image: a shell and certificates. Go itself is mounted, which is quicker than to copy it from layer to layer.
root=$work/golang
mkdir -p "$root"/{tmp,root,usr/local/go,etc/ssl/certs}
copy_program /bin/sh
cp "$certificates" "$root$certificates"
container=$(buildah from scratch)
buildah config --env PATH=/usr/local/go/bin:/bin:/usr/bin --env GOPATH=/go --env GOTOOLCHAIN=local --env GOCACHE=/host/build \
  --env "GOPROXY=file:///host/modules,$(go env GOPROXY)" --env "GOSUMDB=$(go env GOSUMDB)" --env "GONOSUMDB=$(go env GONOSUMDB)" "$container"
buildah copy --quiet "$container" "$root" / >/dev/null
buildah commit --quiet --rm "$container" "${bases[0]}" >/dev/null 2>"$work/golang.log" || fail "cannot make ${bases[0]}"
rm -rf "$root"

# The run image: what distroless's has besides data on time zones.
root=$work/static
mkdir -p "$root"/{tmp,etc/ssl/certs,home/nonroot}
chmod 1777 "$root/tmp"
cp "$certificates" "$root$certificates"
echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >"$root/etc/passwd"
echo 'nonroot:x:65532:' >"$root/etc/group"
container=$(buildah from scratch)
buildah config --user 65532 --workingdir /home/nonroot --env SSL_CERT_FILE="$certificates" "$container"
buildah copy --quiet "$container" "$root" / >/dev/null
buildah commit --quiet --rm "$container" "${bases[1]}" >/dev/null 2>"$work/static.log" || fail "cannot make ${bases[1]}"
say "base images made from this machine's $(go env GOVERSION)"

# The Docker format keeps the health check.
build=$(go env GOCACHE) modules=$(go env GOMODCACHE)/cache/download
mkdir -p "$build" "$modules"
buildah bud --pull-never --format docker --network host --build-arg VERSION=image-check --tag elbowroom:check \
  --volume "$(go env GOROOT):/usr/local/go:ro" --volume "$build:/host/build" --volume "$modules:/host/modules:ro" --file Dockerfile . >"$work/build.log" 2>&1 ||
  fail 'the Dockerfile does not build'
say 'built'

container=$(buildah from --pull-never elbowroom:check)
mounted=$(buildah mount "$container")
buildah inspect --type image elbowroom:check | jq .Docker.config >"$work/config.json"
config() { jq -er "$1" "$work/config.json"; }

user=$(config .User)
[ "${user%%:*}" -gt 0 ] 2>/dev/null || fail "USER is ${user:-root}, not the number of a user that is not root"
[ "$(config '.Labels["org.opencontainers.image.version"]')" = image-check ] || fail 'the label does not say the version'
for port in 50051 8051 9051; do
  config ".ExposedPorts[\"$port/tcp\"]" >/dev/null || fail "port $port is not exposed"
done
mapfile -t command < <(config '(.Entrypoint + .Cmd)[]')
mapfile -t check < <(config '.Healthcheck.Test[1:][]')
[ ${#check[@]} -gt 0 ] || fail 'there is no health check'
[[ $("$mounted/elbowroom" version) == 'elbowroom image-check '* ]] || fail "version is $("$mounted/elbowroom" version)"
[ ! -e "$mounted/bin/sh" ] || fail 'the image has a shell'

# Without settings: exit code 2 and the reason.
code=0
limit=30 buildah run --env "IMAGE_CHECK=$work" "$container" -- "${command[@]}" >"$work/refused.log" 2>&1 || code=$?
[ "$code" = 2 ] || fail "without settings it ended with $code, not with a refusal"
grep -q 'callers are not authenticated' "$work/refused.log" || fail 'without settings it does not say why it refuses'
say 'refuses to be open to everybody'

# A free port; somebody may take it before the server does, so up to three.
token=
serve() {
  local port=$((20000 + RANDOM % 10000))
  address=127.0.0.1:$port
  settings=(--env "IMAGE_CHECK=$work" --env "ELBOWROOM_GRPC_ADDR=$address" --env ELBOWROOM_HTTP_ADDR= --env ELBOWROOM_ADMIN_ADDR=
    --env ELBOWROOM_AUTH_TOKENS_FILE=/etc/elbowroom/tokens --volume "$work/tokens:/etc/elbowroom/tokens:ro")
  buildah run "${settings[@]}" "$container" -- "${command[@]}" >"$work/serve.log" 2>&1 &
  server_job=$!
  local tries
  for ((tries = 0; tries < 150; tries++)); do
    if buildah run "${settings[@]}" "$container" -- "${check[@]}" >"$work/health.log" 2>&1; then return 0; fi
    kill -0 "$server_job" 2>/dev/null || return 1
    sleep 0.2
  done
  fail 'the health check does not pass'
}
"$mounted/elbowroom" token image-check >"$work/token"
token=$(grep -o 'elbow_[^ ]*' "$work/token")
grep -o 'image-check [0-9a-f]\{64\}.*' "$work/token" >"$work/tokens"
chmod 644 "$work/tokens"
serve || serve || serve || fail 'it does not start'
say 'health check passes'

server=$(servers)
[[ $server =~ ^[0-9]+$ ]] || fail "the processes of the server: '$server'"
uid=$(awk '/^Uid:/ {print $2}' "/proc/$server/status")
[ "$uid" = "${user%%:*}" ] || fail "it runs as user $uid"

echo 'hello world' >"$work/text"
export ELBOWROOM_TOKEN=$token
"$mounted/elbowroom" count --server "$address" --model gpt-4o --text --json "$work/text" >"$work/call.log" 2>&1 || fail 'the call fails'
jq -e '.tokens == 3' "$work/call.log" >/dev/null || fail 'the call counts something else than 3 tokens'
if ELBOWROOM_TOKEN='' "$mounted/elbowroom" count --server "$address" --text "$work/text" >"$work/call.log" 2>&1; then
  fail 'it answers without a token'
fi
say "answers a gRPC call as user $uid, and none without a token"

kill -TERM "$server"
code=0
wait "$server_job" || code=$?
[ "$code" = 0 ] || fail "after SIGTERM it ended with $code"
grep -q '^Stopping: ' "$work/serve.log" || fail 'it ended by something else than SIGTERM'
say "stopped on SIGTERM with 0; $(du -h "$mounted/elbowroom" | cut -f1) binary"
