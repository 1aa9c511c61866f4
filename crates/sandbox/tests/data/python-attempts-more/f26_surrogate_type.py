# expect: blocked
class E(Exception): pass
E.__name__ = 'é' * 300
class S(str):
    def __getitem__(self, i): return '\udcff'
def run(p): raise E(S('x'))
