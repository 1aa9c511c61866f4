# expect: blocked-or-memory
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    mods()('sys').setrecursionlimit(10**9)
    f=lambda:0
    for _ in range(10**6):
        f=type('A',(),{'__call__':f})()
    return f()
