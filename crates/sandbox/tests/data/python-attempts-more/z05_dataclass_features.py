# expect: blocked
from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True, frozen=True, slots=True)
class A:
    x:int=1
    y:list=field(default_factory=list)
def run(p): return [asdict(replace(A(),x=2)), A(1)<A(2), repr(A())]
