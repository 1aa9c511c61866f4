# expect: blocked
def run(p): return 'x'*(8<<20)
