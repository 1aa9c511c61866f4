# expect: timeout-or-memory
class D(dict):
    def items(self):
        while True: yield ('a',1)
def run(p): return D(a=1)
