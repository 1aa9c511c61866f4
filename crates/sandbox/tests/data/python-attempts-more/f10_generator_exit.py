# expect: blocked
def run(p): raise GeneratorExit()
