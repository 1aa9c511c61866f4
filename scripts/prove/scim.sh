#!/usr/bin/env bash
# /scim/v2, tried by scim2-tester: each attribute written, read, replaced and removed.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
serve
secret=$(api POST /identity/scim/tokens '{"name": "tester"}' | field secret)
passed=$("$python" "$here/scim.py" "$url/scim/v2" "$secret" "$work/failures")
judge "$passed" "$work/failures"
