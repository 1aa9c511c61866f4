# expect: blocked
def run(p): return open(0).read()
