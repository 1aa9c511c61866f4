# expect: blocked
def run(p): return __import__('os').getpid()
