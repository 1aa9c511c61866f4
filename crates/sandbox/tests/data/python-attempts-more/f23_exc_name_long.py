# expect: blocked
def run(p): raise type('X'*10**6,(Exception,),{})('y'*10**6)
