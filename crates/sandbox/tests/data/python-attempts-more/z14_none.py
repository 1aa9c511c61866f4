# expect: ok
def run(p): return None
