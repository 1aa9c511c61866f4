# expect: memory-or-timeout
import collections
def run(p):
    # Before 3.11 a call in Python takes stack of C, and this crashes early.
    if collections._sys.version_info < (3, 11): raise MemoryError
    collections._sys.setrecursionlimit(2**31 - 1)
    def f(n): return [f(n + 1)]
    return f(0)
