# expect: timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    s=mods()('_signal'); s.pthread_sigmask(s.SIG_BLOCK,range(1,64))
    while True: pass
