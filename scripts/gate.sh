#!/usr/bin/env bash
# Runs the parts of the gate one after the other; a red one doesn't keep the others from running. At the end: seconds of each
# part, and what failed, by name. Run scripts/setup.sh test and scripts/web.sh build first.
#   scripts/gate.sh                  studio (types, texts, unit tests), compile, rust, browser
#   scripts/gate.sh -p steward-core  only Rust tests, with these arguments
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
failed=()
report=()

part() { # name command…
  local name=$1 begun=$SECONDS outcome=ok
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  if ! "$@" 2>&1 | tee "$logs/$name"; then
    outcome=FAILED
    failed+=("$name")
  fi
  report+=("$(printf '%-8s %-6s %5d s' "$name" "$outcome" $((SECONDS - begun)))")
}

# The names of failed tests, as nextest and Playwright list them.
names_of_failed() {
  sed -E 's/\x1b\[[0-9;]*m//g' "$logs/$1" |
    grep -E '^ +(FAIL|TIMEOUT|TRY [0-9]+ (FAIL|TMT)|SIG[A-Z]+|ABORT) |^ +(\[[a-z]+\] › )?e2e/[^ ]+:[0-9]+:[0-9]+ › |^error(\[E[0-9]+\])?: |^[^ ]+\.(ts|tsx|json): ' |
    grep -v 'process didn.t exit' | sort -u | head -n 60
}

# What the failed tests said first: the summary is what is read where a long log is cut.
reasons_of_failed() {
  sed -E 's/\x1b\[[0-9;]*m//g' "$logs/$1" |
    awk '/panicked at |^ +[0-9]+\) (\[[a-z]+\] › )?e2e\// { left = /panicked at / ? 4 : 14 } left > 0 && NF { if (!told[$0]++) print substr($0, 1, 400); left-- }' |
    head -n 80
}

# Apart from running them, and then written to the disk: the servers of the first tests would wait for it at every commit.
compile() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --no-run --locked --workspace "${features[@]}"
  else
    cargo test --no-run --locked --workspace --lib --bins --tests "${features[@]}"
  fi && sync
}

features=(--features steward/failpoints)
if (($#)); then
  part rust scripts/test.sh "${features[@]}" "$@"
else
  part studio scripts/web.sh check
  part compile compile
  part rust scripts/test.sh "${features[@]}"
  part browser scripts/web.sh e2e
fi

printf '\n== summary (%d s, %s cores)\n' "$SECONDS" "$(getconf _NPROCESSORS_ONLN)"
printf '%s\n' "${report[@]}"
flaky=$(sed -E 's/\x1b\[[0-9;]*m//g' "$logs"/* | grep -E '^ +FLAKY [0-9]+/[0-9]+ |^ +✓ .*e2e/.* \(retry #1\)' | sort -u | head -n 60)
[[ -z $flaky ]] || printf '\npassed only at the second try:\n%s\n' "$flaky"
for name in "${failed[@]}"; do
  printf '\nfailed in %s:\n' "$name"
  names_of_failed "$name"
  reasons_of_failed "$name"
done
((${#failed[@]} == 0))
