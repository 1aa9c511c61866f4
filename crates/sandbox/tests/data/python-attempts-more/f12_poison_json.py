# expect: ok-or-blocked
import json
def run(p):
    json.JSONEncoder.encode=lambda *a: '}{'
    return 1
