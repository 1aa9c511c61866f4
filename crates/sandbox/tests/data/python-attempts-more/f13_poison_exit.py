# expect: timeout-or-ok-or-blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    os=mods()('os'); os._exit=lambda *a: None; os.write=lambda *a: 0
    return 1
