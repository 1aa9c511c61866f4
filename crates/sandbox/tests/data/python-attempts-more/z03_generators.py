# expect: ok
import itertools
def run(p): return 1
