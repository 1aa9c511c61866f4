"""mcp_client.py URL: has Steward add the server at URL, log in where it must, accept its tools, and call each once.

The suite watches what Steward sends. STEWARD_URL and STEWARD_KEY say where Steward is.
"""

import http.cookiejar
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

steward, key, there = os.environ["STEWARD_URL"], os.environ["STEWARD_KEY"], sys.argv[1]
scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
# As a browser keeps them: the login is bound to the one that began it.
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def call(method: str, path: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(f"{steward}/api{path}", data, headers, method=method)
    try:
        with browser.open(request, timeout=120) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        said = error.read().decode(errors="replace")
        print(f"{method} {path}: {error.code} {said}", file=sys.stderr)
        return {"error": said}


def credential() -> dict | None:
    """What the suite gives out of band: a client that is registered already."""
    if "client_id" not in context or "client_secret" not in context:
        return None
    fields = {"client_id": context["client_id"], "client_secret": context["client_secret"]}
    if "client-credentials-basic" in scenario or "pre-registration" in scenario:
        # What an operator looks up in the service's documentation.
        resource = look_up(urllib.parse.urljoin(there, "/.well-known/oauth-protected-resource/mcp"))
        issuer = resource["authorization_servers"][0]
        fields["token_url"] = look_up(f"{issuer}/.well-known/oauth-authorization-server")["token_endpoint"]
        transport["allow"].append(urllib.parse.urlsplit(issuer).netloc)
    name = f"c{uuid.uuid4().hex[:8]}"
    made = call("POST", "/credentials", {"name": name, "kind": "oauth2", "fields": fields})
    return {"name": name} if "id" in made else None


def look_up(url: str) -> dict:
    with browser.open(url, timeout=60) as answer:
        return json.loads(answer.read())


def log_in(server: str) -> None:
    for _ in range(3):
        begun = call("POST", f"/mcp/servers/{server}/login")
        if "url" in begun:
            break
        # The login server is at another port of this machine, which an operator has to allow.
        refused = re.findall(r"\b(?:localhost|127\.0\.0\.1):\d+", begun["error"])
        missing = sorted(set(refused) - set(transport["allow"]))
        if not missing:
            return
        transport["allow"].extend(missing)
        call("PUT", f"/mcp/servers/{server}", wanted)
    try:
        browser.open(begun["url"], timeout=60).read()
    except urllib.error.HTTPError as error:
        print(f"login: {error.code} {error.read().decode(errors='replace')[:500]}", file=sys.stderr)
    for _ in range(100):
        state = call("GET", f"/mcp/logins/{begun['login']}")
        if state.get("status") != "waiting":
            break
        time.sleep(0.1)
    print(f"login: {state}", file=sys.stderr)


def example(schema: dict) -> object:
    """Some value that a schema takes."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return {name: example(schema["properties"].get(name, {})) for name in schema.get("required", [])}
    return {"string": "heron", "integer": 2, "number": 3, "boolean": True, "array": [], "null": None}.get(kind, "heron")


host = urllib.parse.urlsplit(there).netloc
transport = {"kind": "http", "url": there, "allow": [host]}
wanted = {"name": f"s{uuid.uuid4().hex[:10]}", "transport": transport}
if (known := credential()) is not None:
    wanted["credential"] = known
server = call("POST", "/mcp/servers", wanted)["id"]
seen = call("POST", f"/mcp/servers/{server}/check")
# Credentials of a program are not a login: where they are refused, nobody is asked. A login may be asked for twice, as after a
# move to another login server.
for _ in range(2):
    if seen.get("error") and scenario.startswith("auth/") and "client-credentials" not in scenario:
        log_in(server)
        seen = call("POST", f"/mcp/servers/{server}/check")
print(json.dumps(seen)[:1000], file=sys.stderr)
tools = seen.get("tools") or []
for tool in tools:
    call("POST", f"/mcp/servers/{server}/accept", {"tool": tool["name"], "hash": tool["hash"]})
if tools:
    skills = call("POST", f"/mcp/servers/{server}/attach", {"tools": [tool["name"] for tool in tools]})
    for skill in skills if isinstance(skills, list) else []:
        arguments = example(skill.get("parameters") or {})
        if "schema" in arguments:
            # It wants to be told what was kept of another one's.
            arguments["schema"] = next(tool["parameters"] for tool in tools if tool["name"] not in skill["name"])
        # Calls that the suite asks for; what is null is left out.
        given = (one["arguments"] for one in context.get("toolCalls", []) if skill["name"].endswith(f"_{one['name']}"))
        arguments = {name: value for name, value in next(given, arguments).items() if value is not None}
        trial = {"arguments": arguments, "confirm": True, "dry_run": False}
        tried = call("POST", f"/skills/{skill['id']}/test", trial)
        # It wants further rights, or another login.
        if any(words in json.dumps(tried).lower() for words in ("scope", "wants a login")):
            log_in(server)
            tried = call("POST", f"/skills/{skill['id']}/test", trial)
        print(json.dumps(tried)[:500], file=sys.stderr)
call("DELETE", f"/mcp/servers/{server}")
