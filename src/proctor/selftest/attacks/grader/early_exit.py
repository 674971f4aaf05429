# title: Ending with success before anything is compared
# kind: judge
# must: not AC
import os

os._exit(0)
