# expect: blocked
import socket
def run(p): return 1
