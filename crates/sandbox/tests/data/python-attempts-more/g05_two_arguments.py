# expect: blocked
def run(a,b): return 1
