"""schemathesis_report.py WHO REPORT FAILURES: prints how many requests were made, and adds each failure to a file, one a line."""

import json
import sys

who, report, file = sys.argv[1:]
with open(report, encoding="utf-8") as text:
    data = json.load(text)
if not data["complete"]:
    sys.exit(f"the run ended early: {data['stop_reason']}")
with open(file, "a", encoding="utf-8") as out:
    for failure in data["failures"]:
        for operation in failure["operations"]:
            out.write(f"{who} {failure['type']} {operation}: {failure['title']}\n")
    for error in data["errors"]:
        out.write(f"{who} error {json.dumps(error)[:300]}\n")
print(data["test_cases"]["generated"])
