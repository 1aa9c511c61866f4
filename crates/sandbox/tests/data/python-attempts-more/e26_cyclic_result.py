# expect: blocked
def run(p):
    x=[]; x.append(x); return x
