# expect: memory
def run(p):
    b=bytearray(1)
    while True: b.extend(bytes(len(b)))
