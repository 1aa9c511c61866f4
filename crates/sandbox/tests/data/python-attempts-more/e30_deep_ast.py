# expect: blocked
def run(p): return eval('-'*200000+'1')
