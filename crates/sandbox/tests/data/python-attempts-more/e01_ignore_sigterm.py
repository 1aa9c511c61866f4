# expect: timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    s=mods()('_signal')
    for n in range(1,64):
        try: s.signal(n,s.SIG_IGN)
        except Exception: pass
    while True: pass
