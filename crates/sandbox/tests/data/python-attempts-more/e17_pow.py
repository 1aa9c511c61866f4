# expect: timeout-or-memory
def run(p): return (7**(10**9))%10
