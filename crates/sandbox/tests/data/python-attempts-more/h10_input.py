# expect: blocked
def run(p): return input()
