# expect: blocked
def run(p):
    g={}
    exec('import os\nr=os.listdir("/")',g); return g['r']
