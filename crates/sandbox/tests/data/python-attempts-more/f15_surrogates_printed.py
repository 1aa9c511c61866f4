# expect: ok
def run(p):
    print('\ud800 \udcff'); return 1
