# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    t=mods()('_thread'); return t.start_new_thread(print,())
