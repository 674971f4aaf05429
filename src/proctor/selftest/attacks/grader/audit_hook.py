# title: An audit hook that sees all that is opened, compiled and imported
# kind: judge
# must: not AC
import re
import sys

seen = []
sys.addaudithook(lambda event, args: seen.append(repr(args)))
__import__("json")
found = re.findall(r"proctor-answer-[0-9a-f]{32}", "".join(seen))
print(found[0] if found else "nothing found")
