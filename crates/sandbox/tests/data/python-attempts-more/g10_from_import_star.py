# expect: ok
from math import *
from collections.abc import Mapping
def run(p): return [isinstance({},Mapping), sqrt(4)]
