# expect: timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os')
    for fd in range(3,64):
        try: os.write(fd,b'{"ok":1}')
        except OSError: pass
    while True: pass
