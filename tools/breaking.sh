#!/usr/bin/env bash
# Compares proto/ with an earlier commit and fails on changes that break callers (buf's FILE rules).
#
# The earlier commit is the first of these that exists:
#   $BREAKING_AGAINST                     any git revision
#   the merge base with origin/main       on a branch
#   HEAD                                  when proto/ has changes that are not committed
#   the parent of the newest commit that touched proto/
# Where there is none, on the first commit or in a shallow clone, nothing is compared and the script says so.
# A break that is meant is declared by a line "Breaking-Change: <why>" in the message of a commit since then; it is then
# printed but does not fail.
#
# Usage: BUF=path/to/buf tools/breaking.sh
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "skipped: buf breaking, $1"
  exit 0
}

git rev-parse --verify --quiet HEAD >/dev/null 2>&1 || skip 'there is no commit yet'

base=${BREAKING_AGAINST:-}
if [ -z "$base" ]; then
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    if [ -n "$(git status --porcelain -- proto)" ]; then
      base=HEAD
    else
      base=$(git rev-list --max-count=1 HEAD -- proto)^
    fi
  fi
fi
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || skip 'no earlier commit to compare with'
base=$(git rev-parse "$base^{commit}")
git cat-file -e "$base:proto" 2>/dev/null || skip "commit ${base:0:12} has no proto/"

# An archive, not buf's own git input: that one clones, which a shallow clone may refuse.
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
git archive "$base" proto third_party buf.yaml | tar -x -C "$before"

echo "buf breaking --against ${base:0:12}"
if "$BUF" breaking --against "$before"; then
  exit 0
fi
if git log --format=%B "$base..HEAD" | grep '^Breaking-Change: '; then
  echo 'the change above breaks callers and is declared'
  exit 0
fi
exit 1
