#!/usr/bin/env bash
# Every page of the studio in the light, in the dark and on a phone, with axe: faults of any weight, errors in the console, sideways
# scrolls. And the studio's own times. What of axe's is excepted is compared in web/e2e/support/axe.ts.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
STEWARD_PROVE=1 "$root/scripts/web.sh" e2e 2>&1 | tee "$work/out" && outcome=0 || outcome=1
tries() { grep -oE "[0-9]+ $1" "$work/out" | tail -n 1 || echo "0 $1"; }
echo "$part: $(tries passed), $(tries failed)"
[[ $outcome == 0 && $(tries passed) != "0 passed" ]]
