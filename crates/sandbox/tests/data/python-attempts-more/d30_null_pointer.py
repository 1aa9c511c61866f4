# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    return mods()('ctypes').string_at(0)
