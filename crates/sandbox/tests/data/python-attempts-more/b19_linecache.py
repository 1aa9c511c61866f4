# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    l=mods()('linecache').getlines('/etc/passwd')
    if not l: raise RuntimeError('nothing')
    return l
