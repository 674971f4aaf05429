# why: the plain right answer
print(input())
