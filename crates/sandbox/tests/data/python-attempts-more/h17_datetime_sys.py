# expect: blocked
import datetime
def run(p): return datetime.sys.modules['os'].scandir('/')
