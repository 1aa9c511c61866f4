# expect: blocked
async def run(p): return 1
