# expect: blocked
def run(p): return {'a':[float('inf')]}
