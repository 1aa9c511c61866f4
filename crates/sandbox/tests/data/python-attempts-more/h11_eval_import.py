# expect: blocked
def run(p): return eval("__import__('os').listdir('/')")
