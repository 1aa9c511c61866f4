# expect: blocked
import hashlib
def run(p): return hashlib.__builtins__['open']('/etc/passwd').read()
