# Sourced by the parts of `make prove`: what starts a server, asks it, and judges what a suite found.
#   serve [NAME=value…]        starts one on a free port of this machine, with data of its own; sets url, key (the administrator's), work
#   api METHOD /path [json]    asks it as the administrator; prints the answer
#   shop                       gives it a small database with two domains
#   judge passed file          compares failures, one a line, with NAME.exceptions; prints the result
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$(dirname "$here")")
part=$(basename "$0" .sh)
export STEWARD_CACHE=${STEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steward}
cache=$STEWARD_CACHE
suites=$cache/prove
export SUITES=$suites
python=$suites/venv/bin/python3
target=${STEWARD_TARGET:-${CARGO_TARGET_DIR:-$root/target}}
[[ $target == /* ]] || target=$root/$target
# shellcheck source=scripts/node.sh
source "$root/scripts/node.sh"

fail() {
  printf '%s: %s\n' "$part" "$*" >&2
  exit 1
}
use_node || fail "Node.js is missing; run: scripts/setup.sh prove"
[[ -x $python && -d $suites/node/node_modules ]] || fail "the suites are missing; run: scripts/setup.sh prove"
[[ -x $target/debug/steward ]] || fail "$target/debug/steward is missing; \`make prove\` builds it"

work=$(mktemp -d "${TMPDIR:-/tmp}/steward-prove-XXXXXX")
pids=()
stop() {
  local pid at
  # The last one first: a server before what it talks to.
  for ((at = ${#pids[@]} - 1; at >= 0; at--)); do
    pid=${pids[at]}
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 300); do kill -0 "$pid" 2>/dev/null && sleep 0.1 || break; done
    kill -9 "$pid" 2>/dev/null && echo "$part: process $pid did not end within 30 s" >&2
    wait "$pid" 2>/dev/null || true
  done
  rm -rf -- "$work"
}
trap stop EXIT

begin() { # log command… : in the background, until the part ends
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null &
  pids+=($!)
}

await() { # log pattern : prints the first match, once it is there
  local found
  for _ in $(seq 1200); do
    if found=$(grep -oEm1 "$2" "$1" 2>/dev/null); then
      printf '%s\n' "$found"
      return 0
    fi
    kill -0 "${pids[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$1" >&2
  fail "it never said: $2"
}

field() { "$python" -c 'import json, sys; value = json.load(sys.stdin)
for name in sys.argv[1].split("."): value = value[int(name) if name.isdigit() else name]
print(value if isinstance(value, str) else json.dumps(value))' "$1"; }

api() {
  curl -sS --fail-with-body -X "$1" "$url/api$2" -H "authorization: Bearer $key" ${3+-H "content-type: application/json" --data-binary "$3"} ||
    fail "$1 $2 was refused"
}

serve() {
  local link log=$work/server.log
  mkdir -p "$work/files"
  begin "$log" env -i PATH="$PATH" HOME="$work" STEWARD_CACHE="$cache" STEWARD_DATA="$work/data" STEWARD_EXAMINE_CONNECTIONS=false STEWARD_DISK_RESERVE_MB=16 HTTP_PROXY=http://127.0.0.1:9 \
    HTTPS_PROXY=http://127.0.0.1:9 "$@" "$target/debug/steward" serve --listen 127.0.0.1:0 --workspace "$work/files"
  link=$(await "$log" 'http://[^ ]+/setup#token=[0-9a-zA-Z_-]+')
  url=${link%%/setup*}
  await "$log" 'steward ask' >/dev/null
  local set_up
  set_up=$(printf '{"token": "%s", "email": "ada@example.org", "password": "a heron stands in the reeds"}' "${link##*token=}")
  key=$(curl -sS --fail-with-body "$url/api/auth/setup" -H "content-type: application/json" --data-binary "$set_up" | field access_token)
  # The session's token ends after some minutes, a key doesn't.
  key=$(api POST /auth/api-key | field api_key)
}

# A small database with two domains.
shop() {
  "$python" -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' "$work/files/shop.db" "$here/shop.sql"
  api POST /datasources '{"name": "shop", "database": "sqlite:shop.db", "writable": true}' >/dev/null
  api PUT /domains/texts "$("$python" -c 'import json, sys; print(json.dumps({"text": open(sys.argv[1]).read()}))' "$here/shop.oos")" >/dev/null
}

judge() { # number-of-passed file
  "$python" "$here/judge.py" "$part" "$here/$part.exceptions" "$1" "$2"
}
