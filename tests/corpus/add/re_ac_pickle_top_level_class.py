# why: pickle cannot find a class that lives inside upstream's wrapper
import pickle


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


pair = pickle.loads(pickle.dumps(Pair(*map(int, input().split()))))
print(pair.a + pair.b)
