# expect: memory-or-blocked-or-timeout
import hashlib
def run(p): return hashlib.scrypt(b'a',salt=b'b',n=2**20,r=64,p=8,maxmem=2**40,dklen=64).hex()
