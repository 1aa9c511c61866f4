# expect: ok
def run(p):
    try:
        try: 1/0
        except ZeroDivisionError as e: raise ValueError('x') from e
    except ValueError as e: return [repr(e.__cause__), e.__traceback__.tb_lineno]
