# expect: blocked
import random
def run(p): return random.random()
