# expect: ok
class A:
    def __call__(self, *p, k=1): return [p[0], k]
run = A()
