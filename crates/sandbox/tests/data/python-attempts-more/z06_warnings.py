# expect: ok
def run(p):
    import datetime
    return [datetime.datetime.utcfromtimestamp(0).year, 1 is 1]
