#!/usr/bin/env bash
# The studio. Run scripts/setup.sh first.
#   scripts/web.sh build   web/dist, only when its sources changed since
#   scripts/web.sh check   types, texts, unit tests
#   scripts/web.sh e2e     the browser tests, against the program that the Rust tests left (further arguments go to Playwright)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${STEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steward}
# shellcheck source=scripts/node.sh
source "$root/scripts/node.sh"
if ! use_node || [[ ! -d $root/web/node_modules ]]; then
  echo "web: Node.js $node_want or the studio's packages are missing; run: scripts/setup.sh build" >&2
  exit 1
fi
target=${CARGO_TARGET_DIR:-target}
[[ $target == /* ]] || target=$root/$target
cd "$root/web"

# Over names and contents, so that a checkout of older files builds again.
sources() {
  { find src public scripts -type f -print0 | LC_ALL=C sort -z && printf '%s\0' ../scripts/web.sh index.html package-lock.json package.json tsconfig.json vite.config.ts; } |
    xargs -0 cat | cksum
  find src public scripts -type f | LC_ALL=C sort | cksum
}

build() {
  local now
  now=$(sources)
  if [[ -e dist/index.html && $(cat dist/.stamp 2>/dev/null) == "$now" ]]; then return 0; fi
  echo "web: building the studio …" >&2
  local report
  if ! report=$(npm run --silent build 2>&1); then
    printf '%s\n' "$report" >&2
    echo "web: the studio could not be built" >&2
    exit 1
  fi
  # Only compressed, as browsers are sent it: the program has all of it in itself.
  find dist -mindepth 2 -type f -size +1k \( -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name '*.html' -o -name '*.svg' -o -name '*.webmanifest' \) \
    -exec gzip --force --best --no-name {} +
  gzip --force --keep --best --no-name dist/index.html
  printf '%s\n' "$now" >dist/.stamp
  echo "web: ${report##*$'\n'}" >&2
}

case ${1:-build} in
  build) build ;;
  check)
    npm run --silent check
    npm run --silent test
    ;;
  e2e | pictures)
    STEWARD_CHROMIUM=$("$root/scripts/chromium.sh")
    export STEWARD_CHROMIUM
    STEWARD_TARGET=$target npm run --silent "$1" -- "${@:2}"
    ;;
  *)
    echo "usage: scripts/web.sh [build|check|e2e|pictures]" >&2
    exit 2
    ;;
esac
