# expect: blocked
from . import os
def run(p): return 1
