# expect: blocked
async def run(p):
    yield 1
