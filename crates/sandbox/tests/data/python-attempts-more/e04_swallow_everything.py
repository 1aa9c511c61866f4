# expect: timeout
def run(p):
    while True:
        try:
            while True: pass
        except BaseException: pass
