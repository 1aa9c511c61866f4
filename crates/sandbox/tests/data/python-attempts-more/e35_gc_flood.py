# expect: memory-or-timeout
def run(p):
    class A: pass
    l=[]
    while True:
        a=A(); a.a=a; a.b='x'*10000; l.append(a)
