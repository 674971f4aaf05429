# why: sleeping uses up the wall clock, which upstream counts, and the idle allowance, which we count
import time

time.sleep(60)
print(sum(map(int, input().split())))
