#!/usr/bin/env bash
# The subjects of docs/nats.md, asked by nats-py over a nats-server of this machine.
source "$(dirname "${BASH_SOURCE[0]}")/serve.sh"
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
begin "$work/nats.log" "$cache/bin/nats-server" -a 127.0.0.1 -p "$port"
await "$work/nats.log" 'Server is ready' >/dev/null
serve "STEWARD_NATS_URL=nats://127.0.0.1:$port" STEWARD_NATS_ACT_AS=ada@example.org
shop
passed=$("$python" "$here/nats_client.py" "nats://127.0.0.1:$port" "$key" "$work/failures")
judge "$passed" "$work/failures"
