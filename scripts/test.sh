#!/usr/bin/env bash
# Runs every test, with cargo-nextest where it is installed and with plain `cargo test` elsewhere.
# Arguments go to both: --features …, -p ….
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scope=(--workspace)
packages=()
previous=
for argument in "$@"; do
  case $argument in
    -p | --package) scope=() ;;
    --package=*) scope=() packages+=("${argument#--package=}") ;;
    -p?*) scope=() packages+=("${argument#-p}") ;;
    *) case $previous in -p | --package) packages+=("$argument") ;; esac ;;
  esac
  previous=$argument
done

# Cargo refuses a feature of `steward` where that package is not among those tested; two others have one of the same name.
if ((${#packages[@]})) && [[ " ${packages[*]} " != *" steward "* && "${1-} ${2-}" == "--features steward/failpoints" ]]; then
  shift 2
  for package in "${packages[@]}"; do
    case $package in steward-engine | steward-store) set -- --features "$package/failpoints" "$@" ;; esac
  done
fi

if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --locked "${scope[@]}" "$@"
else
  # One test at a time: many start servers, kill processes or measure, and nextest's grouping is missing here.
  cargo test --locked --no-fail-fast --lib --bins --tests "${scope[@]}" "$@" -- --test-threads=1 --skip prove_
fi

# Doc tests cost a second compilation of each crate, so only where there are any.
if grep -rqE '^ *//[/!] *```(rust|should_panic|no_run|compile_fail|edition.*)?$' crates/*/src --include='*.rs'; then
  cargo test --locked --doc "${scope[@]}" "$@"
fi
