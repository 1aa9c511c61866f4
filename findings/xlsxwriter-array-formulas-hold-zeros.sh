#!/usr/bin/env bash
# What stands in the cells of an array formula that a library has written and no spreadsheet has calculated.
# Guess: nothing, as in the cells of other formulas that have no stored value.
# Seen on 2026-11-29 with XlsxWriter 3.2.9 and openpyxl 3.1.5: the first cell has the formula and the stored value 0, each
# other cell of the range is a plain number 0. A reader that trusts stored values shows zeros that nobody has computed.
# Runs for some seconds; needs python 3 with venv. Fails if this changes.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v && v/bin/pip -q install XlsxWriter==3.2.9 openpyxl==3.1.5
v/bin/python - <<'PY' | tee seen.txt
import openpyxl, xlsxwriter
book = xlsxwriter.Workbook("a.xlsx")
sheet = book.add_worksheet()
sheet.write_column("A1", [2, 3, 4])
sheet.write_array_formula("B1:B3", "{=A1:A3*10}")
book.close()
for stored in (False, True):
    cells = openpyxl.load_workbook("a.xlsx", data_only=stored).active
    print("stored" if stored else "written", [str(getattr(cells[at].value, "text", cells[at].value)) for at in ("B1", "B2", "B3")])
PY
diff seen.txt - <<'SEEN'
written ['=A1:A3*10', '0', '0']
stored ['0', '0', '0']
SEEN
