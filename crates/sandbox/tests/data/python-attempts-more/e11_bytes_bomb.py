# expect: memory
def run(p): return len(bytes(1<<36))
