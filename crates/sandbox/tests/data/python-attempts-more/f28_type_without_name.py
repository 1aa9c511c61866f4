# expect: blocked
class M(type):
    @property
    def __name__(cls): raise SystemExit(7)
class E(Exception, metaclass=M): pass
def run(p): raise E('x')
