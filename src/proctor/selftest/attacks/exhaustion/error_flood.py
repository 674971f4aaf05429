# title: Error output without end
# kind: run
# must: limit output
while True:
    sys.stderr.write("x" * 65536 + "\n")
