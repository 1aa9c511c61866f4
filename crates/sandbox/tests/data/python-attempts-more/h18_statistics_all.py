# expect: blocked
import statistics
def run(p): return [str(v) for v in statistics.random._os.scandir('/')]
