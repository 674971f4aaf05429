#: status = "optimal"
#: ok = true
#: accepted = true
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


descriptor = int(os.environ["SOLVER_PROGRESS_FD"])
os.write(descriptor, b"no JSON\n[1, 2]\n" + b'{"objective": "high"}\n' + b"\xff\n" * 100)
os.write(descriptor, b'{"t": 1, "objective": 5, "bound": 1}\n')
for _ in range(100):
    os.write(descriptor, b"a line without an end" * 1000)
leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
