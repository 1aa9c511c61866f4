# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    return mods()('_io').FileIO('/etc/passwd').read()
