#!/usr/bin/env bash
# The ready packages, installed and exported, as the reference library of Agent Skills (skills-ref) reads them.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
serve

passed=0
touch "$work/failures"
for package in "$root"/packages/*/; do
  name=$(basename "$package")
  api POST "/skills/import-package?ready=$name" >/dev/null
  mkdir "$work/$name"
  api GET "/skills/packages/$name/export" >"$work/$name.skill"
  "$python" -m zipfile -e "$work/$name.skill" "$work/$name"
  if "$suites/venv/bin/agentskills" validate "$work/$name/$name" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    grep '^ *-' "$work/out" | sed "s/^ *- */$name: /" >>"$work/failures" || sed "s/^/$name: /" "$work/out" >>"$work/failures"
  fi
done
judge "$passed" "$work/failures"
