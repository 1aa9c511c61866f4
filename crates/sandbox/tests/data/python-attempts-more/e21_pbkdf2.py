# expect: timeout
import hashlib
def run(p): return hashlib.pbkdf2_hmac('sha256',b'a',b'b',2**31-1).hex()
