# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os')
    for fd in range(64):
        try: os.close(fd)
        except OSError: pass
    return 1
