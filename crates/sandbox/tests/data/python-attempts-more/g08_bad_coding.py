# expect: blocked
# -*- coding: nosuch -*-
def run(p): return 1
