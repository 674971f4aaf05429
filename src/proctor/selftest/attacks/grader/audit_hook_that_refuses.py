# title: An audit hook that refuses whatever the judge does next
# kind: judge
# must: not AC
import sys


def refuse(event, args):
    raise SystemExit(0)


print("whatever")
sys.addaudithook(refuse)
