# expect: ok
def run(p): return sum(len(str(i)) for i in range(300000))
