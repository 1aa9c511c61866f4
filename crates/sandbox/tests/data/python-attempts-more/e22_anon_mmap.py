# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    m=mods()('mmap'); return len(m.mmap(-1,1<<36))
