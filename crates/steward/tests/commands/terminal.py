"""Runs a program on a terminal of its own: `terminal.py ANSWERS PROGRAM ARGUMENTS…`, where ANSWERS is a JSON list of
pairs of what is waited for and what is typed then. Prints what the terminal showed; ends as the program did."""

import json
import os
import pty
import select
import sys
import time

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, begun = b"", time.monotonic()
while time.monotonic() - begun < 60:
    if select.select([terminal], [], [], 0.2)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    if answers and answers[0][0].encode() in shown:
        os.write(terminal, answers.pop(0)[1].encode())
else:
    os.kill(child, 9)
sys.stdout.write(shown.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
