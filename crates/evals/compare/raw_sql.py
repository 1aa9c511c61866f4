#!/usr/bin/env python3
"""Has a model write SQL for questions over a SQLite file, and compares the rows: what a model does without domains.

    compare/raw_sql.py --server http://127.0.0.1:8800 --key-file DATA/api-key --model connection/local \
        --database chinook.db --questions crates/evals/data/domains/chinook.jsonl

An answer is right if columns of its rows are those that are expected, as in `steward eval domains`. Prints one JSON object.
"""

import argparse
import itertools
import json
import pathlib
import re
import sqlite3
import urllib.request


def same(one, other):
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= max(0.011, abs(one) * 1e-6)
    return str(one) == str(other)


def answers(expected, rows, ordered):
    if len(expected) != len(rows):
        return False
    if not expected:
        return True
    for columns in itertools.islice(itertools.permutations(range(len(rows[0])), len(expected[0])), 5_000):
        picked = [[row[column] for column in columns] for row in rows]
        if ordered:
            if all(same(a, b) for one, row in zip(expected, picked) for a, b in zip(one, row)):
                return True
            continue
        left = list(picked)
        for one in expected:
            found = next((at for at, row in enumerate(left) if all(same(a, b) for a, b in zip(one, row))), None)
            if found is None:
                break
            left.pop(found)
        else:
            return True
    return False


def main():
    arguments = argparse.ArgumentParser()
    for name in ["server", "key-file", "model", "database", "questions"]:
        arguments.add_argument(f"--{name}", required=True)
    args = arguments.parse_args()
    key = pathlib.Path(args.key_file).read_text().strip()
    database = sqlite3.connect(f"file:{args.database}?mode=ro", uri=True)
    tables = "\n".join(row[0] for row in database.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"))
    right = ran = asked = 0
    for line in pathlib.Path(args.questions).read_text().splitlines():
        case = json.loads(line)
        asked += 1
        prompt = f"{tables}\n\nWrite one SQLite SELECT statement that answers this question. Reply with the statement only.\n\nQuestion: {case['text']}"
        body = {"model": args.model, "messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 200}
        request = urllib.request.Request(f"{args.server}/v1/chat/completions", json.dumps(body).encode(), {"authorization": f"Bearer {key}", "content-type": "application/json"})
        try:
            with urllib.request.urlopen(request) as answer:
                text = json.load(answer)["choices"][0]["message"]["content"] or ""
        except urllib.error.HTTPError as error:
            text = error.read().decode()
        found = re.search(r"(?is)\bselect\b.*?(?:;|```|$)", text)
        statement = found.group(0).rstrip("`;") if found else ""
        try:
            rows = database.execute(statement).fetchmany(1_001) if statement else None
        except sqlite3.Error:
            rows = None
        ran += rows is not None
        readings = [case.get("rows"), *case.get("either", [])]
        good = rows is None and case.get("rows") is None and not case.get("either") if rows is None else any(
            expected is not None and answers(expected, rows, case.get("ordered", False)) for expected in readings)
        right += good
    print(json.dumps({"questions": asked, "right": right, "statements that run": ran}))


main()
