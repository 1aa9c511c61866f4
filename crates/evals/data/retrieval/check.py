#!/usr/bin/env python3
"""Proves the labelled questions against the texts themselves: crates/evals/data/retrieval/check.py "$(scripts/corpus.sh)"

Each quote stands in its file, and in no other one of the corpus; what a right answer must contain stands near it; a paraphrase
shares no word with its quote; and few questions could be answered by looking up one rare word.
"""

import collections
import json
import pathlib
import re
import sys

from visible import folded, visible

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE.parents[3] / "crates/tools/sample"
NEAR = 700
PAGE = 3000
KINDS = {"exact": 8, "paraphrase": 9, "how-to": 8, "definition": 7, "number": 8, "misspelt": 6, "foreign": 6, "none": 8}
# Words that say nothing about a subject; a paraphrase may share them with its quote.
EMPTY = set(
    "a about after again all already also an and any are as at be because been before being but by can cannot could did do does doing"
    " don don’t down each else even for from get gets had has have how i if in into is it its itself just me more most must my no not"
    " nor now of off on one only or other our out over own per same should so some such t than that the their them then there these"
    " they this those though to too two under up use used using very was we were what when where whether which while who why will with"
    " would yes you your once".split()
)


def words(text):
    return set(re.findall(r"[^\W_]+(?:_[^\W_]+)*", text.lower()))


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Texts:
    def __init__(self, corpus):
        roots = {"": corpus, "sample/": SAMPLE, "workspace-2/": HERE / "workspace-2"}
        self.visible = {}
        for prefix, root in roots.items():
            for path in sorted(root.rglob("*")):
                name = path.relative_to(root)
                if path.is_file() and path.suffix != ".db" and not name.name.startswith(".") and (prefix or path.suffix == ".html"):
                    self.visible[prefix + str(name)] = visible(path)
        self.folded = {name: folded(text) for name, text in self.visible.items()}
        self.files_of = collections.Counter(word for text in self.visible.values() for word in words(text))

    def faults(self, place, file, quote, expect, shortest):
        if file not in self.visible:
            yield f"{place}: there is no file {file}"
            return
        text = self.visible[file]
        at = text.find(quote)
        if at < 0:
            yield f"{place}: this isn't in {file}: {quote}"
            return
        if not shortest <= len(quote) <= 200:
            yield f"{place}: the quote has {len(quote)} characters"
        near = text[max(0, at - NEAR) : at + len(quote) + NEAR].lower()
        for part in expect:
            if not part or part.lower() not in near:
                yield f"{place}: {part!r} isn't near the quote"

    def given_away(self, question, files):
        """Whether a word of the question stands in one file of all, and that one answers it."""
        own = set().union(*(words(self.visible.get(file, "")) for file in files))
        return any(self.files_of[word] == 1 and word in own for word in words(question))

    def others(self, quote, files):
        return [name for name, text in self.folded.items() if folded(quote) in text and name not in files]


def check_questions(texts, name, faults):
    rows = read(HERE / f"{name}.jsonl")
    kinds = collections.Counter(row["kind"] for row in rows)
    if dict(kinds) != KINDS:
        faults.append(f"{name}: kinds are {dict(kinds)}")
    rare = 0
    for row in rows:
        place, answers, kind = row["id"], row["answers"], row["kind"]
        if (kind == "none") != (not answers) or (kind == "none") != (not row["expect"]) or len(answers) > 3:
            faults.append(f"{place}: {len(answers)} answers, expects {row['expect']}, kind {kind}")
        if answers and all(part.lower() in row["text"].lower() for part in row["expect"]):
            faults.append(f"{place}: the question itself holds what is expected")
        for answer in answers:
            faults += texts.faults(place, answer["file"], answer["quote"], row["expect"], 40)
            others = texts.others(answer["quote"], {other["file"] for other in answers})
            if others:
                faults.append(f"{place}: the quote is also in {', '.join(others[:5])}")
            shared = words(row["text"]) & words(answer["quote"]) - EMPTY
            if kind == "paraphrase" and shared:
                faults.append(f"{place}: shares {', '.join(sorted(shared))} with its quote")
        rare += texts.given_away(row["text"], [answer["file"] for answer in answers])
    if rare * 3 > len(rows):
        faults.append(f"{name}: {rare} questions hold a word that stands in their answer's file alone")
    files = {answer["file"] for row in rows for answer in row["answers"]}
    print(f"{name}: {len(rows)} questions, {len(files)} files, {rare} with a word of one file only; {dict(kinds)}")
    return rows


def check_facts(texts, name, faults):
    rows = read(HERE / f"{name}.jsonl")
    for row in rows:
        faults += texts.faults(row["id"], row["file"], row["quote"], row["expect"], 20)
        others = texts.others(row["quote"], {row["file"], *row.get("copies", [])})
        if others:
            faults.append(f"{row['id']}: the quote is also in {', '.join(others[:5])}")
        if not row["expect"] or any(part.lower() not in row["quote"].lower() for part in row["expect"]):
            faults.append(f"{row['id']}: what it expects isn't in its quote")
        if all(part.lower() in row["text"].lower() for part in row["expect"]):
            faults.append(f"{row['id']}: the question itself holds what is expected")
    if len(rows) != 40:
        faults.append(f"{name}: {len(rows)} questions")
    rare = sum(texts.given_away(row["text"], [row["file"]]) for row in rows)
    places = collections.Counter(row["file"].split("/")[0] for row in rows)
    files = {row["file"] for row in rows}
    print(f"{name}: {len(rows)} questions over {len(files)} files, {rare} with a word of one file only; {dict(places)}")
    return rows


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} CORPUS, the folder that scripts/corpus.sh prints")
    corpus = pathlib.Path(sys.argv[1])
    texts = Texts(corpus)
    sizes = collections.Counter()
    for file, text in texts.visible.items():
        sizes[file.split("/")[0], "files"] += 1
        sizes[file.split("/")[0], "characters"] += len(text)
    for package in sorted({package for package, _ in sizes}):
        files, characters = sizes[package, "files"], sizes[package, "characters"]
        print(f"{package}: {files} files, {characters / 1e6:.2f} million characters, {characters // PAGE} pages")
    faults = []
    sets = [check_questions(texts, name, faults) for name in ("debian-docs", "debian-docs-2")]
    facts = [check_facts(texts, name, faults) for name in ("facts", "facts-2")]
    for first, second in (sets, [[{"answers": [row], **row} for row in rows] for rows in facts]):
        asked = [{row["answers"][0]["file"] for row in rows if row["answers"]} for rows in (first, second)]
        if asked[0] & asked[1]:
            faults.append(f"both sets of a pair ask for {', '.join(sorted(asked[0] & asked[1]))}")
    ids = collections.Counter(row["id"] for rows in (*sets, *facts) for row in rows)
    faults += [f"the id {id} is there {count} times" for id, count in ids.items() if count > 1]
    if faults:
        sys.exit("\n".join(faults))
    print("all of it holds")


if __name__ == "__main__":
    main()
