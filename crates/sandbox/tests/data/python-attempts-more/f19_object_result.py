# expect: blocked
def run(p): return object()
