# expect: blocked
import re
def run(p): return re.copyreg.__builtins__['open']('/etc/passwd').read()
