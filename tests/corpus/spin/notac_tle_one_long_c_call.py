# why: a loop inside one C call never gets to Python's signal handlers
print(sum(range(10**12)))
