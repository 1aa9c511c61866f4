# expect: blocked
import json.os
def run(p): return 1
