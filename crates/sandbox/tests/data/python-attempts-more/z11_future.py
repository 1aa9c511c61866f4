# expect: blocked
from __future__ import annotations
def run(p: Undefined) -> Never: return 1
