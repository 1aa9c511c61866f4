# expect: timeout
import re
def run(p): return bool(re.search(r'(x+x+)+y','x'*60))
