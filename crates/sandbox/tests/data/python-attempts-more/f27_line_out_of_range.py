# expect: blocked
def run(p):
    try: 1/0
    except ZeroDivisionError as e: t = e.__traceback__
    raise ValueError('where').with_traceback(type(t)(None, t.tb_frame, 0, -7))
