# expect: blocked
def run(p): return {(1,2):3}
