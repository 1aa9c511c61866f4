# expect: blocked
def run(p):
    x=[]
    for _ in range(500): x=[x]
    return x
