# expect: ok-or-blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os')
    for fd in range(0,64):
        try: os.write(fd,b'{"done":1,"status":0,"late":false}')
        except OSError: pass
    return 2
