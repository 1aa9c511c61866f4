# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    t=mods()('ctypes'); c=t.CDLL(None,use_errno=True)
    r=c.syscall(323,0)
    if r<0: raise OSError(t.get_errno(),'refused')
    return r
