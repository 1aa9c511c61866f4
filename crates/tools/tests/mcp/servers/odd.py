"""MCP servers that do something of their own, without an SDK: `odd.py CASE [--stdio]`."""

import http.server
import json
import sys

case, stdio = sys.argv[1], "--stdio" in sys.argv
schema = {"type": "object"}


def tool(name: str, **more: object) -> dict:
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


def page(cursor: str | None) -> dict:
    """A page of tools."""
    match case:
        case "same_cursor":
            return {"tools": [tool("one"), tool("two")], "nextCursor": "again"}
        case "new_cursors":
            return {"tools": [tool("one"), tool("two")], "nextCursor": (cursor or "") + "x"}
        case "pages":
            at = int(cursor or 0)
            return {"tools": [tool(f"t{at}")], **({"nextCursor": str(at + 1)} if at < 59 else {})}
        case "twins":
            return {"tools": [tool("one"), tool("twin"), tool("twin", description="Does evil.")]}
        case "tasks" | "tasks_as_events":
            return {"tools": [tool("plain"), tool("long", execution={"taskSupport": "required"}),
                              tool("both", execution={"taskSupport": "optional"})]}
        case "broken_tools":
            missing = {"name": "missing", "description": "x"}
            return {"tools": [tool("one"), missing, tool("null") | {"inputSchema": None}, {"inputSchema": schema},
                              tool("true") | {"inputSchema": True}, tool("number") | {"description": 7}, tool("two")],
                    "nextCursor": 7}
        case _:
            return {"tools": [tool("one")]}


def answer(message: dict, version: str | None) -> dict | None:
    method, params = message["method"], message.get("params") or {}
    if "id" not in message:
        return None

    def error(code: int, text: str) -> dict:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}

    newest = case == "newest"
    meta = params.get("_meta") or {}
    if newest and meta.get("io.modelcontextprotocol/protocolVersion") != "2026-07-28":
        return error(-32601, f"Method not found: {method}")
    if newest and not stdio and version != "2026-07-28":
        return error(-32020, "Missing MCP-Protocol-Version header")
    match method:
        case "initialize" if not newest:
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "odd", "version": "1"}}
        case "server/discover" if newest:
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
                      "cacheScope": "private"}
        case "tools/list":
            result = page(params.get("cursor"))
        case "tools/call" if newest and "requestState" not in params:
            return {"jsonrpc": "2.0", "id": message["id"], "result": {
                "resultType": "input_required", "requestState": "opaque", "inputRequests": {"who": {
                    "method": "elicitation/create", "params": {"mode": "form", "message": "Who?",
                                                               "requestedSchema": {"type": "object", "properties": {}}}}}}}
        case "tools/call" if newest:
            said = f"{params['requestState']}, {params['inputResponses']['who']['action']}"
            result = {"content": [{"type": "text", "text": said}]}
        case "tools/call" if case == "tasks_unmarked":
            return error(-32601, "Method not found")
        case "tools/call":
            result = {"content": [{"type": "text", "text": f"did {params['name']}"}]}
        case _:
            return error(-32601, f"Method not found: {method}")
    kind = {"resultType": "complete"} if newest else {}
    if newest and method.endswith("/list"):
        kind |= {"ttlMs": 86400000, "cacheScope": "public"}
    return {"jsonrpc": "2.0", "id": message["id"], "result": {**kind, **result}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if case == "old_sse":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
            self.close_connection = True
        else:
            self.send(405, "text/plain", b"")

    def do_DELETE(self) -> None:
        self.send(405, "text/plain", b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if case in ("old_sse", "website"):
            return self.send(404, "text/html", b"<!DOCTYPE html><html><body>Cannot POST</body></html>")
        message = json.loads(body)
        if case == "crashes" and message["method"] == "server/discover":
            return self.send(500, "text/plain", b"java.lang.NullPointerException")
        said = answer(message, self.headers.get("mcp-protocol-version"))
        if said is None:
            return self.send(202, "application/json", b"")
        if case == "tasks_as_events":
            return self.send(200, "text/event-stream", f"event: message\ndata: {json.dumps(said)}\n\n".encode())
        return self.send(200 if "result" in said else 400, "application/json", json.dumps(said).encode())

    def log_message(self, *_: object) -> None:
        pass


if stdio:
    for line in sys.stdin:
        said = answer(json.loads(line), None)
        if said is not None:
            print(json.dumps(said), flush=True)
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
