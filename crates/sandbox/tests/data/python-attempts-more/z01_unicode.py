# expect: ok
def run(p): return ['\N{SNOWMAN}','ß'.upper(),'İ'.lower(),'é'.encode('latin-1').hex(),'€'.encode('cp1252').hex(),'x'.encode('utf-16').hex(),'bücher'.encode('idna').decode()]
