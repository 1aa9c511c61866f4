# expect: memory
def run(p): return len('{:>99999999999}'.format(1))
