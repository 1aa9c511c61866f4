# expect: blocked
raise ValueError('x')
def run(p): return 1
