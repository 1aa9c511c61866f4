# expect: blocked
x=1
