# expect: blocked
def run(p): __import__('\ud800')
