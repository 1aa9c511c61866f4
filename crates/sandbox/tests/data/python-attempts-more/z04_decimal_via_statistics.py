# expect: ok
import statistics
def run(p): return [statistics.fmean([1,2]),statistics.mode('aab'),round(statistics.NormalDist(0,1).inv_cdf(0.9),3),statistics.linear_regression([1,2,3],[2,4,6]).slope]
