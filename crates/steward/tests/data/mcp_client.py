"""The official MCP client against a running server: python3 - URL KEY. Fails by an exception."""
import asyncio
import json
import sys
import urllib.error
import urllib.request

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

base, key = sys.argv[1], sys.argv[2]
url = f"{base}/mcp"


def http(path, body=None, **headers):
    """Status, headers and text of a plain request."""
    data = None if body is None else json.dumps(body).encode()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"{base}{path}", data, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def steward(mode, token=key):
    authorised = httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60)
    return Client(streamable_http_client(url, http_client=authorised), mode=mode)


async def outcome(client, run):
    followed = await client.call_tool("follow_run", {"run": run})
    return followed.structured_content["outcome"], followed


async def talk(mode):
    async with steward(mode) as client:
        print(mode, "speaks", client.protocol_version)
        listed = await client.list_tools()
        names = [tool.name for tool in listed.tools]
        assert names == ["ask_steward", "follow_run"], names
        ask = listed.tools[0]
        assert ask.input_schema["required"] == ["request"], ask
        assert ask.output_schema["required"] == ["run", "outcome", "answer"], ask

        plain = await client.call_tool("ask_steward", {"request": "plain please"})
        assert not plain.is_error, plain
        assert plain.content[0].text == "Hello from the model.", plain
        told = plain.structured_content
        assert (told["outcome"], told["verdict"], told["approval"]) == ("completed", "no-claims", None), told

        seen = []

        async def progress(done, total, message):
            seen.append(message)

        files = await client.call_tool("ask_steward", {"request": "List the files"}, progress_callback=progress)
        assert files.content[0].text == "There is beacon.txt.", files
        assert seen == ["uses list", "used list"], seen

        # What a person must allow parks, and goes on when they did.
        parked = await client.call_tool("ask_steward", {"request": f"Write the note {mode}"})
        told = parked.structured_content
        assert told["outcome"] == "waiting" and told["approval"], told
        assert told["approval"] in parked.content[0].text and not parked.is_error, parked
        assert (await outcome(client, told["run"]))[0] == "waiting"
        status, _, text = http(f"/api/approvals/{told['approval']}/decide", {"answer": {"decision": "approve"}},
                               authorization=f"Bearer {key}")
        assert status < 300, (status, text)
        how, done = await outcome(client, told["run"])
        assert how == "completed" and done.content[0].text == "The note is written.", done

        failed = await client.call_tool("ask_steward", {"request": "please break"})
        assert failed.is_error and failed.structured_content["outcome"] == "failed", failed

        for name, arguments in [("ask_nobody", {"request": "x"}), ("ask_steward", {}),
                                ("ask_steward", {"request": ""}), ("follow_run", {"run": "x"})]:
            try:
                await client.call_tool(name, arguments)
            except Exception as error:
                assert "there is no tool" in str(error) or "request" in str(error) or "run" in str(error), error
            else:
                raise AssertionError(f"{name} {arguments} was taken")

        # A call that is cancelled stops its run.
        before = {run["id"] for run in runs()}
        with anyio.move_on_after(3) as scope:
            await client.call_tool("ask_steward", {"request": "take forever"})
        assert scope.cancelled_caught
        mine = [run["id"] for run in runs() if run["id"] not in before]
        assert len(mine) == 1, mine
        how, _ = await outcome(client, mine[0])
        assert how == "stopped", how


def runs():
    status, _, text = http("/api/runs", authorization=f"Bearer {key}")
    assert status == 200, text
    return json.loads(text)["items"]


def doors():
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    accept = {"accept": "application/json, text/event-stream"}
    for token in [None, "wrong"]:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        status, answered, text = http("/mcp", hello, **accept, **headers)
        assert status == 401 and "API key" in text, (status, text)
        challenge = answered["www-authenticate"]
        assert challenge.startswith("Bearer") and "/.well-known/oauth-protected-resource/mcp" in challenge, challenge
    status, _, text = http("/.well-known/oauth-protected-resource/mcp")
    assert status == 200 and json.loads(text)["resource"] == url, text
    mine = {"authorization": f"Bearer {key}"}
    status, _, text = http("/mcp", hello, **accept, **mine, origin="https://evil.example.org")
    assert status == 403, (status, text)
    status, answered, text = http("/mcp", hello, **accept, **mine)
    assert status == 200 and answered["mcp-session-id"], (status, text)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    status, _, text = http("/mcp", listing, **accept, **mine, mcp_session_id="5f9d3b1e-0000-4000-8000-000000000000")
    assert status == 404, (status, text)


async def main():
    doors()
    await talk("legacy")
    await talk("auto")
    try:
        async with steward("legacy", "wrong"):
            pass
    except BaseException:
        pass
    else:
        raise AssertionError("a wrong key was taken")


asyncio.run(main())
print("all good")
