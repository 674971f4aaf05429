# title: Sleeping for ever
# kind: run
# must: limit wall
# limits: wall=0.4
import time

time.sleep(1e6)
