"""An MCP server of the official SDK, for tests."""

import argparse
import asyncio
import os
import pathlib
import socket
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ImageContent, TextContent, ToolAnnotations

options = argparse.ArgumentParser()
options.add_argument("--http", action="store_true", help="streamable HTTP on a free port, which is printed; else stdio")
options.add_argument("--port", type=int, default=0)
options.add_argument("--token", help="take requests with this bearer token only")
options.add_argument("--oauth", action="store_true", help="take requests with tokens of its own login server only")
options.add_argument("--hidden", action="store_true", help="its login server tells nothing but by its challenges")
options.add_argument("--words", default="Says it again.", help="description of the tool `echo`")
options.add_argument("--notes", default=".", help="folder for notes of what happened")
options.add_argument("--fail", help="end at once with this message")
options.add_argument("--leak", help="end at once with the value of this variable")
options = options.parse_args()

if options.leak:
    sys.exit(os.environ[options.leak])
if options.fail:
    sys.exit(options.fail)

notes = pathlib.Path(options.notes)
server = MCPServer("tester", version="1")


def note(name: str, text: str = "") -> None:
    (notes / name).write_text(text)


@server.tool(description=options.words, annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    return f"echo: {text}"


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool()
def fail(reason: str) -> str:
    """Fails."""
    raise ToolError(reason)


@server.tool()
async def slow(ctx: Context, name: str, seconds: float = 60) -> str:
    """Takes its time."""
    note(f"{name}.started")
    await ctx.report_progress(1, 3, "halfway there")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        note(f"{name}.cancelled")
        raise
    return "done"


@server.tool()
def die() -> str:
    """Ends the server in the middle of a call."""
    print("out of cheese", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def picture() -> list[TextContent | ImageContent]:
    """Draws."""
    return [
        TextContent(type="text", text="A dot:"),
        ImageContent(type="image", data="AAAA", mime_type="image/png"),
    ]


@server.tool()
def see(name: str) -> dict[str, object]:
    """What the program sees."""
    try:
        pathlib.Path(name).read_bytes()
        readable = True
    except OSError:
        readable = False
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1).close()
        network = "open"
    except ConnectionRefusedError:
        network = "refused by nobody there"
    except OSError as error:
        network = f"closed: {error.strerror}"
    return {"env": dict(os.environ), "readable": readable, "network": network, "pid": os.getpid()}


@server.tool()
async def grow(ctx: Context) -> str:
    """Changes the server's list while it runs."""
    server.remove_tool("echo")
    server.add_tool(echo, name="echo", description="Says it again, and more.")
    server.add_tool(add, name="plus", description="A new one.")
    await ctx.request_context.session.send_tool_list_changed()
    return "grown"


class Guarded:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode()
            if sent != f"Bearer {options.token}":
                await send({"type": "http.response.start", "status": 401,
                            "headers": [(b"www-authenticate", b"Bearer")]})
                await send({"type": "http.response.body", "body": b""})
                return
        await self.app(scope, receive, send)


async def http() -> None:
    import uvicorn

    app = server.streamable_http_app()
    if options.token:
        app = Guarded(app)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", options.port))
    listening.listen()
    if options.oauth:
        import oauth

        app = oauth.Guarded(app, f"http://127.0.0.1:{listening.getsockname()[1]}", notes, options.hidden)
    print(listening.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[listening])


if options.http:
    asyncio.run(http())
else:
    server.run()
