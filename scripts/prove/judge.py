"""Compares failures with the exceptions of a part: judge.py PART EXCEPTIONS PASSED FAILURES

Failures stand one a line. An exception is a regular expression, a tab, and the reason why such a failure is expected. Prints
what is unexpected and, at the end, one line; exits with 1 if anything is unexpected, or if nothing was tried.
"""

import re
import sys

part, exceptions, passed, failures = sys.argv[1:]
rules = []
for number, line in enumerate(open(exceptions, encoding="utf-8"), 1):
    if line.strip() and not line.startswith("#"):
        pattern, tab, reason = line.rstrip("\n").partition("\t")
        if not tab or not reason.strip():
            sys.exit(f"{exceptions}:{number}: a tab and a reason are missing")
        rules.append([re.compile(pattern), reason, 0])

unexpected, known = [], 0
for failure in filter(None, map(str.strip, open(failures, encoding="utf-8"))):
    rule = next((rule for rule in rules if rule[0].search(failure)), None)
    if rule is None:
        unexpected.append(failure)
    else:
        rule[2] += 1
        known += 1
for pattern, reason, count in rules:
    if not count:
        print(f"{part}: this exception was not needed: {pattern.pattern} ({reason})")
for failure in unexpected:
    print(f"{part}: unexpected: {failure}")
print(f"{part}: {passed} passed, {known} known, {len(unexpected)} unexpected")
sys.exit(1 if unexpected or int(passed) + known == 0 else 0)
