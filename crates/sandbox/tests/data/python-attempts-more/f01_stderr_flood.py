# expect: truncated
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    sys=mods()('sys')
    for _ in range(10000): sys.stderr.write('e'*1000)
    return 1
