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
  cargo nextest run --locked "${scope[@]}" "$@"
else
  # One test at a time: many start servers, kill processes or measure, and nextest's grouping is missing here.
  cargo test --locked --no-fail-fast --lib --bins --tests "${scope[@]}" "$@" -- --test-threads=1
fi

# Doc tests cost a second compilation of each crate, so only where there are any.
if grep -rqE '^ *//[/!] *```(rust|should_panic|no_run|compile_fail|edition.*)?$' crates/*/src --include='*.rs'; then
  cargo test --locked --doc "${scope[@]}" "$@"
fi
