# title: Memory beyond the limit, a list that only grows
# kind: run
# must: limit memory
# needs: memory
values = []
while True:
    values.extend([[] for _ in range(10_000)])
