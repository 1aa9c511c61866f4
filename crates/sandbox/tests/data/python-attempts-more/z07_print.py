# expect: ok
def run(p):
    print('a','b',sep='-',end='!\n'); print({'a':1}); return None
