"""mcp_report.py RESULTS FAILURES: prints how many checks passed, and writes the others into a file, one a line."""

import json
import re
import sys
from pathlib import Path

results, file = Path(sys.argv[1]), sys.argv[2]
passed = 0
with open(file, "w", encoding="utf-8") as failures:
    for checks in sorted(results.rglob("checks.json")):
        place = str(checks.parent.relative_to(results))
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", place)
        for check in json.loads(checks.read_text()):
            if check["status"] == "SUCCESS":
                passed += 1
            elif check["status"] in ("FAILURE", "WARNING"):
                said = " ".join(str(check.get("errorMessage") or check.get("description")).split())
                failures.write(f"{scenario} {check['status'].lower()} {check['id']}: {said[:300]}\n")
print(passed)
