#!/usr/bin/env bash
# Runs every test, with cargo-nextest where it is installed and with plain `cargo test` elsewhere.
# Arguments go to both: --features …, -p ….
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scope=(--workspace)
for argument in "$@"; do
  case $argument in -p | --package | --package=* | -p?*) scope=() ;; esac
done

if cargo nextest --version >/dev/null 2>&1; then
  run=(cargo nextest run --locked "${scope[@]}" "$@")
  build=("${run[@]}" --no-run)
else
  # One test at a time: many start servers, kill processes or measure, and nextest's grouping is missing here.
  build=(cargo test --locked --no-run --lib --bins --tests "${scope[@]}" "$@")
  run=(cargo test --locked --no-fail-fast --lib --bins --tests "${scope[@]}" "$@" -- --test-threads=1)
fi
"${build[@]}"

# The browser tests wait more than they work, so they run beside the others; what they say comes after.
browser=
if [[ ${STEWARD_STUDIO_TESTS:-} ]]; then
  said=$(mktemp)
  trap '[[ $browser ]] && kill -- "-$browser" 2>/dev/null; rm -f "$said"' EXIT
  setsid scripts/web.sh e2e >"$said" 2>&1 </dev/null &
  browser=$!
fi

failed=0
"${run[@]}" || failed=$?

# Doc tests cost a second compilation of each crate, so only where there are any.
if grep -rqE '^ *//[/!] *```(rust|should_panic|no_run|compile_fail|edition.*)?$' crates/*/src --include='*.rs'; then
  cargo test --locked --doc "${scope[@]}" "$@" || failed=$?
fi

if [[ $browser ]]; then
  echo "test: waiting for the browser tests …"
  wait "$browser" || failed=$?
  browser=
  cat "$said"
fi
exit "$failed"
