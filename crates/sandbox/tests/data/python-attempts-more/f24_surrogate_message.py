# expect: blocked
def run(p): raise ValueError('bad \ud800 text')
