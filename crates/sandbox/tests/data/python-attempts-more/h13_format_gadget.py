# expect: ok
def run(p): return '{0.__class__}'.format(run)
