# title: Nesting too deep for the parser
# kind: judge
# must: not AC
# source: printed
# limits: cpu=0.5
print("x = " + "[" * 100_000 + "]" * 100_000)
