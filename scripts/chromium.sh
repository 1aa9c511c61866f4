#!/usr/bin/env bash
# Prints the path of a Chromium or Chrome; fails where there is none. $STEWARD_CHROMIUM names another one.
set -euo pipefail
for candidate in "${STEWARD_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable \
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' /Applications/Chromium.app/Contents/MacOS/Chromium; do
  if [[ -n $candidate ]] && command -v "$candidate"; then exit 0; fi
done
echo "no Chromium or Chrome was found; install one, or name it in STEWARD_CHROMIUM" >&2
exit 1
