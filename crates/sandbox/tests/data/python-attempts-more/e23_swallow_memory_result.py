# expect: memory
def run(p): return ['x'*10**7 for _ in range(10**6)]
