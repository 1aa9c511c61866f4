# expect: ok-or-blocked
class S(str):
    def __str__(self): raise ValueError()
    __repr__=__str__
def run(p): return S('a')
