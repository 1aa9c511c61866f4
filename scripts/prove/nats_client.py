"""nats_client.py SERVER KEY FAILURES: prints how many checks passed, and writes the others into a file, one a line."""

import asyncio
import json
import sys

import nats

server, key, file = sys.argv[1:]
failures: list[str] = []
passed = 0


def check(name: str, good: bool, answer: object) -> None:
    global passed
    if good:
        passed += 1
    else:
        failures.append(f"{name}: {str(answer)[:300]}".replace("\n", " "))


async def main() -> None:
    client = await nats.connect(server)

    async def ask(subject: str, payload: object = None, headers: dict[str, str] | None = None) -> dict:
        body = payload if isinstance(payload, bytes) else json.dumps(payload if payload is not None else {}).encode()
        answer = await client.request(f"oos.cmd.{subject}", body, timeout=120, headers=headers)
        return json.loads(answer.data)

    async def good(name: str, subject: str, payload: object, fits, headers: dict[str, str] | None = None) -> dict:
        answer = await ask(subject, payload, headers)
        check(name, answer.get("ok") is True and fits(answer), answer)
        return answer

    async def refused(name: str, subject: str, payload: object, headers: dict[str, str] | None = None) -> None:
        answer = await ask(subject, payload, headers)
        check(name, answer.get("ok") is False and bool(answer.get("error")), answer)

    # The shop is described before the door is open.
    for _ in range(600):
        try:
            await ask("global")
            break
        except nats.errors.NoRespondersError:
            await asyncio.sleep(0.1)
    query = {"query": "{ products(limit: 2, order: [{id: ASC}]) { id name category { name } } }"}
    rows = [{"id": 1, "name": "Assam", "category": {"name": "Tea"}}, {"id": 2, "name": "Sencha", "category": {"name": "Tea"}}]
    await good("global", "global", None, lambda a: isinstance(a["prompts"], list))
    await good("global, empty payload", "global", b"", lambda a: isinstance(a["prompts"], list))
    await good("search", "search", {"query": "what is sold", "limit": 1}, lambda a: len(a["hits"]) == 1)
    await good("query", "gql.query", query, lambda a: a["data"]["products"] == rows)
    await good("query with variables", "gql.query", {"query": "query Q($n: Int) { products(limit: $n) { id } }", "variables": {"n": 1}, "operationName": "Q"}, lambda a: len(a["data"]["products"]) == 1)
    await good("query with a key in the header", "gql.query", query, lambda a: a["data"]["products"] == rows, {"Authorization": f"Bearer {key}"})
    await good("query with a key in the payload", "gql.query", {**query, "token": key}, lambda a: a["data"]["products"] == rows)
    await refused("a key that is not good, header", "gql.query", query, {"Authorization": "Bearer sk-steward-no"})
    await refused("a key that is not good, payload", "gql.query", {**query, "token": "sk-steward-no"})
    answer = await ask("gql.query", {"query": "{ products { nothing } }"})
    check("query of a field that is not there", bool(answer.get("errors") or answer.get("error")), answer)
    for payload in (b"{", b"[]", b'"text"', b"\xff\xfe", b'{"query": 3}', b"{}"):
        await refused(f"query {payload!r}", "gql.query", payload)
    await good("domains", "domain.list", None, lambda a: {"categories", "products"} <= set(a["ids"]))
    await good("views", "view.list", None, lambda a: isinstance(a["ids"], list))
    kept = await good("load", "domain.load", {"id": "products"}, lambda a: "domain products" in a["source"] and a["version"] == 1)
    await refused("load what is not there", "domain.load", {"id": "nothing"})
    text = kept["source"].replace("field price", "field price ")
    changed = text.replace("  field added : date filterable\n", "")
    await good("save", "domain.save", {"id": "products", "source": changed, "version": 1}, lambda a: a["version"] == 2)
    await refused("save over another version", "domain.save", {"id": "products", "source": kept["source"], "version": 1})
    await refused("save what is wrong", "domain.save", {"id": "products", "source": "domain products from nowhere {"})
    await refused("save under another name", "domain.save", {"id": "others", "source": kept["source"]})
    view = 'view few "Few" over products {\n  table -> products.rows {\n    column name "Name" width=20\n  }\n}\n'
    await good("save a view", "view.save", {"id": "few", "source": view}, lambda a: a["version"] == 1)
    await good("load the view", "view.load", {"id": "few"}, lambda a: "view few" in a["source"])
    await good("delete the view", "view.delete", {"id": "few"}, lambda a: True)
    await refused("load the deleted view", "view.load", {"id": "few"})
    for subject in ("nothing", "domain", "domain.nothing"):
        try:
            answer = await client.request(f"oos.cmd.{subject}", b"{}", timeout=2)
            check(f"subject {subject}", json.loads(answer.data).get("ok") is False, answer.data)
        except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
            check(f"subject {subject}", True, "")

    # Nobody asked to be told; the next message is answered all the same.
    await client.publish("oos.cmd.global", b"{}")
    many = await asyncio.gather(*(ask("gql.query", query) for _ in range(400)), return_exceptions=True)
    lost = [one for one in many if isinstance(one, BaseException)]
    check("400 at once: each is answered or refused", not lost, lost[:1])
    check("400 at once: at least 200 are answered", sum(isinstance(one, dict) and one.get("ok") is True for one in many) >= 200, many[-1])
    await good("afterwards", "gql.query", query, lambda a: a["data"]["products"] == rows)
    await client.close()


asyncio.run(main())
with open(file, "w", encoding="utf-8") as out:
    out.writelines(f"{failure}\n" for failure in failures)
print(passed)
