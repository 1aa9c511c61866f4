# expect: ok
import collections, statistics, re, base64, hashlib, json
def run(p):
    c=collections.Counter('abca').most_common(1); u=collections.UserDict(a=1).copy(); d=collections.ChainMap({'a':1}).new_child()
    return [c, dict(u), dict(d), repr(collections.deque([1])), statistics.multimode('ab'), statistics.geometric_mean([1,2]), re.escape('a.b'), base64.a85encode(b'x').decode(), hashlib.shake_128(b'a').hexdigest(4), json.dumps({'b':1},indent=2)]
