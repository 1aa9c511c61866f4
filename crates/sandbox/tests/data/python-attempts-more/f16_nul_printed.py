# expect: ok
def run(p):
    print('a\0b'); return 'a\0b'
