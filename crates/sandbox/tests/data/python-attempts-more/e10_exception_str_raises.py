# expect: blocked
class E(Exception):
    def __str__(self): raise MemoryError()
def run(p): raise E()
