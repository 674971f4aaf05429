# why: exhausting an endless iterator in C
from collections import deque
from itertools import count

deque(count(), maxlen=0)
