#!/usr/bin/env bash
# The Rust tests that the gate leaves out (`prove_…`), and the long ones at full length: kill loops, power cuts, recorded sets, crowds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export STEWARD_PROVE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
cargo nextest run --locked --workspace --features steward/failpoints --profile prove 2>&1 | tee "$log" || code=$?
grep -E '^ +Summary ' "$log" | tail -n 1 | sed -E 's/^ +//'
exit "$code"
