# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    s=mods()('_posixsubprocess'); return s.fork_exec([b'/bin/true'],[b'/bin/true'],True,(),None,None,-1,-1,-1,-1,-1,-1,-1,-1,True,False,-1,None,None,None,-1,None,False)
