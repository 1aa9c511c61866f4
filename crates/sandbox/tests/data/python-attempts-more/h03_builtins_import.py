# expect: blocked
def run(p): return __builtins__['__import__']('subprocess').run(['true']).returncode
