# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os')
    for fd in range(3,1024):
        try:
            while True: os.write(fd,b'x'*65536)
        except OSError: pass
