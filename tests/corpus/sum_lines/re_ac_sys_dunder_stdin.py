# why: sys.__stdin__ is not the object that upstream replaces
import sys

n = int(sys.__stdin__.readline())
print(sum(int(sys.__stdin__.readline()) for _ in range(n)))
