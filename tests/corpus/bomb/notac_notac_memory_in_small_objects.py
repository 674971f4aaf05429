# why: a list that grows for ever
values = []
while True:
    values.extend([[] for _ in range(10_000)])
