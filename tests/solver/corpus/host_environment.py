#: status = "optimal"
#: ok = true
#: accepted = true
import json
import os


def leave(name, **result):
    with open("draft", "w") as file:
        json.dump(result, file)
    os.rename("draft", name)


assert "PROCTOR_TEST_SECRET" not in os.environ, "a secret of the host's"
assert os.environ["SOLVER_RANDOM_SEED"] == "7"
assert float(os.environ["SOLVER_MAX_SECONDS"]) < float(os.environ["EXECUTOR_TIMEOUT_SECONDS"])
leave("result.json", status="OPTIMAL", bins=[["a", "c"], ["b"]], objective=2, bound=2)
