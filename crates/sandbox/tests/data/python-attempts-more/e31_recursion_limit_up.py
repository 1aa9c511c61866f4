# expect: blocked-or-memory-or-timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    mods()('sys').setrecursionlimit(10**9)
    def f(n): return f(n+1)+1
    return f(0)
