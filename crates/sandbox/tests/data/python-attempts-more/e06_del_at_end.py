# expect: ok
class A:
    def __del__(self):
        while True: pass
keep=A()
def run(p): return 1
