# expect: blocked
class S(str):
    def partition(self,x): return ('json','','')
def run(p): return __import__(S('os')).getpid()
