# expect: truncated
def run(p):
    print('é'*10**6); return 1
