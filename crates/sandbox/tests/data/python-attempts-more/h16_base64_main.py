# expect: blocked
import base64
def run(p): base64.main(); return 1
