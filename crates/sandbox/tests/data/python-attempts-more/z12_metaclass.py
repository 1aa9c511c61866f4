# expect: ok
class M(type):
    def __call__(c,*a): return super().__call__(*a)
class A(metaclass=M): pass
def run(p): return type(A()).__name__
