#!/usr/bin/env python3
"""Measures queries over a domain beside the same statements in plain sqlite3: what Steward adds, and pages of a large table.

    compare/data.py --server http://127.0.0.1:8800 --key-file DATA/api-key --workspace DATA/workspace --rows 1000000

It makes a SQLite file in the workspace, adds it as a datasource `bench`, describes it, and removes all of it afterwards. One connection,
one request at a time; what Steward adds holds its API, rights, the guard and the reading of rows. Prints one JSON object.
"""

import argparse
import http.client
import json
import pathlib
import sqlite3
import time
import urllib.parse


class Server:
    def __init__(self, url, key):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)
        self.headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    def call(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text) if text else None


def made(path, rows):
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE measurement (id INTEGER PRIMARY KEY, station TEXT NOT NULL, taken DATE, value REAL)")
    stations = [f"station {number}" for number in range(500)]
    values = ((at, stations[at * 7919 % 500], f"20{at % 25:02}-{at % 12 + 1:02}-{at % 28 + 1:02}", at % 1000 / 10) for at in range(1, rows + 1))
    database.executemany("INSERT INTO measurement VALUES (?, ?, ?, ?)", values)
    database.commit()
    database.executescript("CREATE INDEX by_station ON measurement (station); ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    return database


def timed(run, times):
    found = []
    for at in range(times):
        begun = time.perf_counter()
        run(at)
        found.append((time.perf_counter() - begun) * 1000)
    found.sort()
    return {"p50_ms": round(found[len(found) // 2], 3), "p99_ms": round(found[int(len(found) * 0.99)], 3)}


def main():
    arguments = argparse.ArgumentParser()
    for name in ["server", "key-file", "workspace"]:
        arguments.add_argument(f"--{name}", required=True)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--times", type=int, default=2_000)
    args = arguments.parse_args()
    server = Server(args.server, pathlib.Path(args.key_file).read_text().strip())
    path = pathlib.Path(args.workspace) / "bench.db"
    plain = made(path, args.rows)
    source = server.call("POST", "/api/datasources", {"name": "bench", "database": "sqlite:bench.db"})
    place = f"/api/datasources/{source['id']}"
    try:
        server.call("POST", f"{place}/init", {"save": True})
        ask = lambda query: server.call("POST", "/api/domains/query", {"query": query})
        step = args.rows // args.times

        def one(at):
            ask({"domain": "measurement", "where": [{"field": "id", "op": "eq", "value": at * step + 1}]})

        def one_plain(at):
            plain.execute("SELECT id, station, taken, value FROM measurement WHERE id = ? ORDER BY id LIMIT 50", [at * step + 1]).fetchall()

        cursor = {"after": None, "pages": 0}

        def page(_):
            query = {"domain": "measurement", "order": [{"field": "id"}], "limit": 100}
            if cursor["after"]:
                query["after"] = cursor["after"]
            cursor["after"] = ask(query)["next"]
            cursor["pages"] += 1

        def page_plain(at):
            plain.execute("SELECT id, station, taken, value FROM measurement WHERE id > ? ORDER BY id LIMIT 100", [at * 100]).fetchall()

        # The cursor of a page far inside: taken once, asked for again and again.
        def far(at):
            query = {"domain": "measurement", "order": [{"field": "station"}, {"field": "id"}], "limit": 100}
            if marks:
                query["after"] = marks[at % len(marks)]
            return ask(query)["next"]

        marks = []
        for _ in range(200):
            marks.append(far(len(marks) - 1))
        timed(one, 50)
        report = {
            "rows": args.rows,
            "one row": {"steward": timed(one, args.times), "sqlite3": timed(one_plain, args.times)},
            "pages of 100 by key": {"steward": timed(page, args.times), "sqlite3": timed(page_plain, args.times)},
            "pages of 100 by station and key": {"steward": timed(far, min(args.times, 1_000))},
        }
        report["added to one row, p50 ms"] = round(report["one row"]["steward"]["p50_ms"] - report["one row"]["sqlite3"]["p50_ms"], 3)
        print(json.dumps(report, indent=1))
    finally:
        for kind in ["domain", "view"]:
            for text in server.call("GET", f"/api/domains/texts?limit=100")["items"]:
                if text["kind"] == kind and text["name"].startswith("measurement"):
                    server.call("DELETE", f"/api/domains/texts/{kind}/{text['name']}")
        server.call("DELETE", place)
        plain.close()
        for suffix in ["", "-wal", "-shm"]:
            path.with_name(path.name + suffix).unlink(missing_ok=True)


main()
