# expect: memory
def run(p): return len(list(range(10**10)))
