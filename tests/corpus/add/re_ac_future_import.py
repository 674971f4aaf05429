# why: upstream puts its own imports first, and a __future__ import must be the first
from __future__ import annotations

a, b = map(int, input().split())
print(a + b)
