# expect: timeout
import json
def mods(): return json.dumps.__globals__['__builtins__']['__import__']
def run(p):
    mods()('sys').set_int_max_str_digits(0); return len(str(1<<40000000))
