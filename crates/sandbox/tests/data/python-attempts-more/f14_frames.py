# expect: ok-or-blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    f=mods()('sys')._getframe(1)
    while f: f.f_globals.clear(); f=f.f_back
    return 1
