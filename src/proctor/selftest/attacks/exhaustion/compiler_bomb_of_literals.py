# title: A short literal that unfolds into gigabytes when it is compiled
# kind: judge
# must: not AC
# source: printed
# limits: cpu=0.5
print("y = " + " + ".join("'x' * 4096" for _ in range(4000)))
print("z = (" + "((((0,)*20,)*20,)*20,)*20, " * 2000 + ")")
print("w = " + "-" * 90000 + "1")
