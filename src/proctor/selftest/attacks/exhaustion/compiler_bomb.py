# title: Source that takes the compiler for ever
# kind: judge
# must: not AC
# source: printed
# limits: cpu=0.5 memory=128M
print("\n".join(f"x{i} = lambda: (x{i}, {i}) + ({i},) * {i % 200}" for i in range(150_000)))
