# expect: timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    sys=mods()('sys')
    def t(f,e,x):
        while True: pass
    sys.settrace(t)
    (lambda: 1)()
