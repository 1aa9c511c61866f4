# expect: blocked
def run(): return 1
