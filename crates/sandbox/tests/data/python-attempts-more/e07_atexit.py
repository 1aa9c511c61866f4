# expect: ok
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    mods()('atexit').register(lambda: [None for _ in iter(int,1)]); return 1
