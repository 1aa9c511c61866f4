"""An SMTP server for the tests: takes mail over STARTTLS, TLS and in the clear, and puts it into Maildirs.

Arguments: the folder of the Maildirs, certificate, key, password of the user `ann`.
Prints its three ports as JSON, and ends when its standard input does.
"""

import asyncio
import json
import mailbox
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

folder, certificate, key, password = sys.argv[1:5]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)


def give_away(place):
    """Dovecot serves no mail of root."""
    if os.geteuid() != 0:
        return
    for path, _, names in os.walk(place):
        for name in [path, *(os.path.join(path, name) for name in names)]:
            os.chown(name, 65534, 65534)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        text = envelope.content
        if b"Subject: refuse" in text:
            return "554 5.7.1 this looks like spam"
        if b"Subject: drop" in text:
            server.transport.abort()
            await asyncio.sleep(3600)
        if b"Subject: hang" in text:
            await asyncio.sleep(3600)
        for address in envelope.rcpt_tos:
            user = address.split("@")[0]
            box = mailbox.Maildir(os.path.join(folder, user), create=True)
            box.add(b"Return-Path: <" + envelope.mail_from.encode() + b">\r\n" + text)
            give_away(os.path.join(folder, user))
        return "250 2.0.0 taken"


def login(server, session, envelope, mechanism, data):
    fine = data.login == b"ann" and data.password == password.encode()
    return AuthResult(success=fine, handled=False)


def server(**more):
    return lambda: SMTP(Handler(), hostname="localhost", authenticator=login, enable_SMTPUTF8=False, **more)


async def main():
    loop = asyncio.get_running_loop()
    place = ("127.0.0.1", 0)
    secured = {"auth_required": True}
    servers = {
        "starttls": await loop.create_server(server(tls_context=context, require_starttls=True, **secured), *place),
        "tls": await loop.create_server(server(auth_require_tls=False, **secured), *place, ssl=context),
        "plain": await loop.create_server(server(auth_require_tls=False), *place),
    }
    ports = {name: one.sockets[0].getsockname()[1] for name, one in servers.items()}
    print(json.dumps(ports), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    os._exit(0)


asyncio.run(main())
