# expect: blocked
import collections
class A:
    def __lt__(self, o): return sorted([A(), A()])
def run(p):
    collections._sys.setrecursionlimit(2**31 - 1)
    return sorted([A(), A()])
