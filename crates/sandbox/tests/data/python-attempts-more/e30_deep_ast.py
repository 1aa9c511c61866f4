# expect: blocked-or-memory
def run(p): return eval('-'*200000+'1')
