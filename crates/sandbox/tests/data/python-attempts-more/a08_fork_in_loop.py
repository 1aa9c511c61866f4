# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    imp=mods(); os=imp('os'); sys=imp('sys')
    n=0
    for _ in range(200):
        if os.fork()==0: os._exit(0)
        n+=1
    return n
