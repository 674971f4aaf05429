# why: exit() after the answer is a normal end in both modes
a, b = map(int, input().split())
print(a + b)
exit()
