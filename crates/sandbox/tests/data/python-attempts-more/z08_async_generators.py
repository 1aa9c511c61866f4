# expect: ok
def run(p):
    async def f(): return 3
    c=f()
    try: c.send(None)
    except StopIteration as e: return e.value
