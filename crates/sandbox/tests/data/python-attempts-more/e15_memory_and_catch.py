# expect: timeout
def run(p):
    l=[]
    while True:
        try:
            while True: l.append('x'*10**6+str(len(l)))
        except MemoryError: pass
