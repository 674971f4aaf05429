# title: Waiting for ever without using CPU time, where no wall limit was set
# kind: run
# must: limit idle
# limits: cpu=0.3
import signal

signal.pause()
