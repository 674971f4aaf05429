# why: open(0) is the evaluator's own descriptor upstream, where nothing is to be read
data = open(0).read().split()
print(sum(map(int, data[1:])))
