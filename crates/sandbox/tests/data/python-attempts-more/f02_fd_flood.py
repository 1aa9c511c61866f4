# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os')
    while True: os.write(1,b'x'*65536)
