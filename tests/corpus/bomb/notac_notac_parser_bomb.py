# why: ten million nested operators for the parser
print(eval("-" * 10_000_000 + "1"))
