# expect: memory
def run(p): return (1<<(1<<40)).bit_length()
