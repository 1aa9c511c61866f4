"""A login server around an MCP server, for tests: RFC 9728, 8414, 7591, authorization code with PKCE, refresh with
rotation, client credentials. What it hands out is written into `notes`."""

import base64
import hashlib
import json
import secrets
from urllib.parse import parse_qsl, urlencode


class Guarded:
    def __init__(self, app, base, notes, hidden):
        # Hidden: only the challenge says where the metadata is and which rights are wanted, calls of tools want further ones,
        # and a client's secret is taken by Basic authentication only.
        self.app, self.base, self.notes, self.hidden = app, base, notes, hidden
        self.rights = {}
        self.clients, self.codes, self.refreshes, self.tokens = {}, {}, {}, set()
        self.log = []

    def note(self, word):
        self.log.append(word)
        (self.notes / "oauth.log").write_text("\n".join(self.log))

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path = scope["path"]
        if path == "/mcp":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode()
            revoked = (self.notes / "revoke").exists()
            if revoked:
                (self.notes / "revoke").unlink()
                self.tokens.clear()
            token = sent.removeprefix("Bearer ")
            if token in self.tokens:
                body = await whole(receive)
                if self.hidden and b'"tools/call"' in body and "pages:write" not in self.rights[token]:
                    where = 'Bearer error="insufficient_scope", scope="pages:write"'
                    return await answer(send, 403, {}, [(b"www-authenticate", where.encode())])
                return await self.app(scope, again(body, receive), send)
            where = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
            if self.hidden:
                where = f'Bearer scope="pages:read", resource_metadata="{self.base}/custom/metadata.json"'
            return await answer(send, 401, {}, [(b"www-authenticate", where.encode())])
        body = await whole(receive)
        query = dict(parse_qsl(scope["query_string"].decode()))
        if path == "/custom/metadata.json" and self.hidden:
            return await answer(send, 200, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base]})
        if path == "/.well-known/oauth-protected-resource/mcp" and not self.hidden:
            return await answer(send, 200, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base],
                                            "scopes_supported": ["pages"]})
        if path == "/.well-known/oauth-authorization-server":
            return await answer(send, 200, {
                "issuer": self.base, "authorization_endpoint": f"{self.base}/authorize",
                "token_endpoint": f"{self.base}/token", "registration_endpoint": f"{self.base}/register",
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                "client_id_metadata_document_supported": self.hidden,
                "token_endpoint_auth_methods_supported":
                    ["none", "client_secret_basic" if self.hidden else "client_secret_post"]})
        if path == "/register":
            asked = json.loads(body)
            client = secrets.token_hex(8)
            self.clients[client] = asked["redirect_uris"]
            self.note("registered " + asked["client_name"])
            return await answer(send, 201, {"client_id": client, **asked})
        if path == "/authorize":
            if query["redirect_uri"] not in self.clients.get(query["client_id"], []) or query["code_challenge_method"] != "S256":
                return await answer(send, 400, {"error": "invalid_request"})
            self.note("asked for " + query.get("scope", "nothing")) if self.hidden else None
            code = secrets.token_hex(8)
            self.codes[code] = query
            back = f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.base})}"
            return await answer(send, 302, {}, [(b"location", back.encode())])
        if path == "/token":
            form = dict(parse_qsl(body.decode()))
            sent = dict(scope["headers"]).get(b"authorization", b"").decode()
            if sent.startswith("Basic "):
                if not self.hidden:
                    return await answer(send, 401, {"error": "invalid_client"})
                form["client_id"], form["client_secret"] = base64.b64decode(sent[6:]).decode().split(":")
            elif self.hidden and "client_secret" in form:
                self.note("secret in the body")
                return await answer(send, 400, {"error": "invalid_client"})
            return await self.token(send, form)
        return await answer(send, 404, {})

    async def token(self, send, form):
        grant, asked = form.get("grant_type"), {}
        if form.get("resource") != f"{self.base}/mcp":
            return await answer(send, 400, {"error": "invalid_target"})
        if grant == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
            if not asked or asked["code_challenge"] != proof or asked["client_id"] != form["client_id"]:
                return await answer(send, 400, {"error": "invalid_grant"})
        elif grant == "refresh_token":
            if self.refreshes.pop(form["refresh_token"], None) != form["client_id"]:
                return await answer(send, 400, {"error": "invalid_grant"})
        elif grant == "client_credentials":
            if (form.get("client_id"), form.get("client_secret")) != ("robot", "canary-161803"):
                return await answer(send, 401, {"error": "invalid_client"})
        else:
            return await answer(send, 400, {"error": "unsupported_grant_type"})
        self.note(grant)
        given = {"access_token": secrets.token_hex(16), "token_type": "Bearer", "expires_in": 3600}
        self.tokens.add(given["access_token"])
        self.rights[given["access_token"]] = (asked.get("scope") or form.get("scope", "")).split()
        if grant != "client_credentials":
            given["refresh_token"] = secrets.token_hex(16)
            self.refreshes[given["refresh_token"]] = form["client_id"]
        return await answer(send, 200, given)


async def whole(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def again(body, receive):
    """What is received once more, then what comes after it."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message():
        return first.pop() if first else await receive()

    return next_message


async def answer(send, status, body, headers=()):
    await send({"type": "http.response.start", "status": status,
                "headers": [(b"content-type", b"application/json"), *headers]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
