# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    s=mods()('_socket'); return str(s.socket(fileno=1).send(b'x'))
