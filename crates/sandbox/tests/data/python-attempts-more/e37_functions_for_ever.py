# expect: memory-or-timeout
def run(p):
    keep = []
    while True:
        ns = {}; exec('def f(a=1):\n    return [a] * 3', ns); keep.append(ns)
