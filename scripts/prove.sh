#!/usr/bin/env bash
# Proves at length what the gate leaves out: runs the parts (scripts/prove/*.sh that are executable), or those that are named, one
# after the other. A red one doesn't keep the others from running. Each prints one line of result at its end.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

parts=("$@")
if ((${#parts[@]} == 0)); then
  for file in "$here"/prove/*.sh; do [[ -x $file ]] && parts+=("$(basename "$file" .sh)"); done
fi
for part in "${parts[@]}"; do
  if [[ ! -x $here/prove/$part.sh ]]; then
    echo "prove: there is no part $part; there are: $(for file in "$here"/prove/*.sh; do [[ -x $file ]] && basename "$file" .sh; done | xargs)" >&2
    exit 2
  fi
done

failed=() report=()
for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  begun=$SECONDS outcome=ok last=$(mktemp)
  "$here/prove/$part.sh" 2>&1 </dev/null | tee "$last"
  if ((PIPESTATUS[0])); then
    outcome=FAILED
    failed+=("$part")
  fi
  report+=("$(printf '%-14s %-6s %5d s  %s' "$part" "$outcome" $((SECONDS - begun)) "$(tail -n 1 "$last")")")
  rm -f "$last"
done

printf '\n== summary (%d s, %s cores)\n' "$SECONDS" "$(getconf _NPROCESSORS_ONLN)"
printf '%s\n' "${report[@]}"
if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[*]}"
  exit 1
fi
