# why: half of a surrogate pair, which no UTF-8 can hold, must not break what reports it
input()
print("\ud800")
