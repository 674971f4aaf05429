# why: upstream takes quit() away
a, b = map(int, input().split())
print(a + b)
quit()
