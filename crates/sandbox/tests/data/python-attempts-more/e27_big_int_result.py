# expect: blocked
def run(p): return {'a':[1,2**70]}
