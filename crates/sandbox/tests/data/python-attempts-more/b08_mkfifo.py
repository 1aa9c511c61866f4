# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    imp=mods(); os=imp('os'); sys=imp('sys')
    return os.mkfifo('/tmp/x')
