# expect: memory
import collections
def run(p):
    t = lambda: collections.defaultdict(t)
    d = root = t()
    while True: d = d['k']
