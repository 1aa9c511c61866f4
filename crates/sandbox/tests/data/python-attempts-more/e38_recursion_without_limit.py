# expect: memory-or-timeout
import collections
def run(p):
    collections._sys.setrecursionlimit(2**31 - 1)
    def f(n): return [f(n + 1)]
    return f(0)
