# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    t=mods()('ctypes'); m=t.pythonapi
    f=t.CFUNCTYPE(t.c_int)(b'\x31\xc0\xc3'); return f()
