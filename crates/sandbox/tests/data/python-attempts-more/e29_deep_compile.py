# expect: blocked
def run(p): return eval('('*100000+'1'+')'*100000)
