# expect: blocked
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    m=mods()('importlib.machinery',fromlist=['x']); return str(m.ExtensionFileLoader('x','/tmp/x.so').create_module(m.ModuleSpec('x',None)))
