# expect: ok
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    mods()('_imp').acquire_lock(); return 1
