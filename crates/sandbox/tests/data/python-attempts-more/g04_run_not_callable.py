# expect: blocked
run=3
