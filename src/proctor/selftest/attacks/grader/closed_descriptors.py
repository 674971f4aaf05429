# title: Closing every descriptor, the standard ones first
# kind: judge
# must: not AC
import os

os.closerange(0, 4096)
