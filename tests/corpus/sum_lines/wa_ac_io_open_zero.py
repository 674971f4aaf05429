# why: io.open(0) misses upstream's fake stdin just as open(0) does
import io

data = io.open(0, "rb").read().split()
print(sum(map(int, data[1:])))
