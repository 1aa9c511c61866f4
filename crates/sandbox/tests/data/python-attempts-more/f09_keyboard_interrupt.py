# expect: blocked
def run(p): raise KeyboardInterrupt()
