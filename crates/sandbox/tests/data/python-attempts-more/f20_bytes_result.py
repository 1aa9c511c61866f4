# expect: blocked
def run(p): return b'x'
