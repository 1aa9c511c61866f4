# expect: blocked
def run(p:
