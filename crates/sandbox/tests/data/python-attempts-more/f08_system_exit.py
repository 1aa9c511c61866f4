# expect: blocked
def run(p): raise SystemExit(0)
