#!/usr/bin/env python3
"""Lines of Rust without tests, by room, and how long files are.

Left out: crates/testkit, files and folders of tests, and `#[cfg(test)]` modules inside of files. Everything else counts, comments
and empty lines too. Run from anywhere: scripts/lines.py [CHECKOUT]
"""
import collections
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
TESTS = re.compile(r"^crates/testkit/|(^|/)tests\.rs$|/tests/|_tests|/testing")
MODULE = re.compile(r"\s*(pub(\(crate\))? )?mod \w+ \{")


def lines_without_tests(text: str) -> int:
    lines = text.splitlines()
    count, at = len(lines), 0
    while at < len(lines):
        if lines[at].strip() == "#[cfg(test)]" and at + 1 < len(lines) and MODULE.match(lines[at + 1]):
            indent = len(lines[at]) - len(lines[at].lstrip())
            end = lines.index(" " * indent + "}", at + 1)
            count -= end - at + 1
            at = end
        at += 1
    return count


def main() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "crates/*/src/*.rs"], check=True, capture_output=True, text=True
    ).stdout.split()
    files = {name: lines_without_tests((ROOT / name).read_text()) for name in listed
             if not TESTS.search(name) and (ROOT / name).exists()}
    rooms = collections.Counter()
    for name, lines in files.items():
        rooms[name.split("/")[1]] += lines
    for room, lines in sorted(rooms.items()):
        print(f"{room:10} {lines:7,}")
    print(f"{'all':10} {sum(rooms.values()):7,}")
    short = sum(lines < 40 for lines in files.values())
    longest = max(files, key=files.get)
    print(f"{len(files)} files, median {statistics.median(files.values()):.0f}, {short / len(files):.1%} under 40, "
          f"longest {files[longest]} ({longest})")


main()
