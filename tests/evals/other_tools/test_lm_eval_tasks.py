"""`lm_eval --tasks proctor_...`, the real command, beside `proctor eval` over the same replies."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import ANSWER, QUESTIONS, write
from known_replies import (
    NOTHING,
    Verdicts,
    answering,
    broken_humaneval,
    proctors_verdicts,
    replies_to,
    run,
    sets_of,
)
from proctor_command import Proctor

from proctor.evals.export.lm_eval_log import task_name
from proctor.integrations.prepared_benchmarks import NAMES

LM_EVAL = os.environ.get("PROCTOR_TEST_LM_EVAL", "")
READERS = """
import json, sys
from datasets import load_dataset
from lm_eval.utils import (
    get_file_datetime, get_file_task_name, get_results_filenames, get_sample_results_filenames,
    make_table,
)
names = sys.argv[1:]
[results], [samples] = get_results_filenames(names), get_sample_results_filenames(names)
table = load_dataset("json", data_files=samples, split="train")
whole = load_dataset("json", data_files=results, split="train")
print(json.dumps({
    "table": make_table(json.load(open(results))),
    "rows": len(table), "results": len(whole), "passes": list(table["pass@1"]),
    "task": get_file_task_name(samples.rpartition("/")[2]),
    "times": [get_file_datetime(each.rpartition("/")[2]).removesuffix(".json") for each in names],
}))
"""

WRONG = """
import json, sys
from lm_eval.tasks import TaskManager

said = []
for task, options in json.loads(sys.argv[2]):
    try:
        manager = TaskManager(include_path=sys.argv[1], metadata={"proctor": options})
        manager.load([task])["tasks"][task].build_all_requests(apply_chat_template=True)
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
print(json.dumps(said))
"""

pytestmark = [pytest.mark.outside("LM_EVAL"), pytest.mark.timeout(1200)]


def lm_eval(
    place: Path,
    url: str,
    tasks: list[str],
    options: dict[str, Any],
    *more: str,
    chat: bool = True,
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Run `lm_eval` against a server; return its results, and its samples by task."""
    out = place / f"out-{len(list(place.iterdir()))}"
    include = run([Path(LM_EVAL).with_name("proctor"), "lm-eval"], place).strip()
    model, path = ("local-chat-completions", "chat/completions") if chat else (
        "local-completions", "completions"
    )  # fmt: skip
    run(
        [LM_EVAL, "-m", "lm_eval", "--model", model, "--model_args",
         f"model=stub,base_url={url}/{path},num_concurrent=4,tokenizer_backend=none",
         "--tasks", ",".join(tasks), "--include_path", include, "--output_path", out,
         "--metadata", json.dumps({"proctor": options}), "--log_samples",
         *(["--apply_chat_template"] if chat else []), *more],
        place,
    )  # fmt: skip
    [results] = (out / "stub").glob("results_*.json")
    return json.loads(results.read_text()), {
        task: rows_of(next((out / "stub").glob(f"samples_{task}_2*.jsonl"))) for task in tasks
    }


def rows_of(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_text().splitlines()))


def verdicts_of(rows: list[dict[str, Any]]) -> Verdicts:
    found: Verdicts = {}
    for row in rows:
        [replies], [judged] = row["resps"], row["filtered_resps"]
        for reply, each in zip(replies, judged, strict=True):
            verdict = json.loads(each)["verdict"]
            found.setdefault((row["doc"]["id"], reply), {})[row["filter"]] = verdict
    return found


@pytest.mark.language("cpp")
def test_every_benchmark_as_proctor_eval(proctor: Proctor, tmp_path: Path) -> None:
    """Verdicts of every sample in both modes, pass@k, standard errors, no faults."""
    replies = {name: replies_to(name) for name in NAMES}
    with answering(replies) as stub:
        results, samples = lm_eval(tmp_path, stub.url, [*map(task_name, NAMES)], {"n": 3})
        for name in NAMES:
            task = task_name(name)
            ours, rates = proctors_verdicts(
                proctor, tmp_path / name.replace("/", "-"), name, stub.url, 3
            )
            assert verdicts_of(samples[task]) == ours, name
            found = results["results"][task]
            for mode, verdicts in sets_of(ours, rates).items():
                assert "AC" in verdicts, (name, mode)
                assert verdicts - {"AC"}, (name, mode)
                assert found[f"pass@1,{mode}"] == pytest.approx(rates[mode]), (name, mode)
                assert found[f"pass@3,{mode}"] >= found[f"pass@1,{mode}"]
                assert found[f"faults,{mode}"] == 0
                if len(replies[name]) > 1:
                    assert isinstance(found[f"pass@1_stderr,{mode}"], float)


@pytest.mark.parametrize(("name", "prompt"), [
    ("bigcodebench", "completion"),
    pytest.param("multipl-e", "completion", marks=pytest.mark.language("cpp")),
])  # fmt: skip
def test_base_models_get_texts(proctor: Proctor, tmp_path: Path, name: str, prompt: str) -> None:
    rows = (files("proctor") / "bundled" / f"{name}.jsonl").read_text("utf-8").splitlines()
    if name == "bigcodebench":
        found = map(json.loads, rows)
        replies = {each["task_id"]: [each["canonical_solution"], "    pass\n"] for each in found}
    else:
        code = "    return std::max(std::min(a, b), std::min(std::max(a, b), c));\n}\n"
        replies = {json.loads(rows[0])["name"]: [code, "    return 0;\n}\n"]}
    with answering({name: replies}, prompt=prompt) as stub:
        task = task_name(name)
        results, samples = lm_eval(tmp_path, stub.url, [task], {"n": 2}, chat=False)
        ours, rates = proctors_verdicts(
            proctor, tmp_path / "run", name, stub.url, 2, "--prompt", prompt
        )
    assert verdicts_of(samples[task]) == ours
    assert {mode for each in ours.values() for mode in each.values()} > {"AC"}
    assert results["results"][task]["pass@1,official"] == rates["official"] == 0.5


def test_a_broken_problem_is_in_no_score(proctor: Proctor, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    broken, replies = broken_humaneval(source)
    task = "proctor_humaneval"
    with answering({"humaneval": replies}) as stub:
        options = {"source": str(source), "n": 3, "mode": "standard"}
        results, samples = lm_eval(tmp_path, stub.url, [task], options)
        ours, rates = proctors_verdicts(
            proctor, tmp_path / "run", "humaneval", stub.url, 3, "--source", str(source), "--mode",
            "standard",
        )  # fmt: skip
    assert verdicts_of(samples[task]) == ours
    [row] = [each for each in samples[task] if each["doc"]["id"] == broken]
    assert row["faults"] == 2  # the third reply holds no program
    found = results["results"][task]
    assert found["faults,standard"] == row["faults"]
    assert found["pass@1,standard"] == pytest.approx(rates["standard"])


def test_tasks_of_ones_own(proctor: Proctor, tmp_path: Path) -> None:
    """A benchmark file, by option and in a YAML with settings and repeats of its own."""
    path = write(tmp_path / "own", ANSWER, QUESTIONS)
    replies = {"1": ["[ANSWER]4[/ANSWER]", "5"], "2": ["3.333", NOTHING]}
    (tmp_path / "mine.yaml").write_text(f"""
task: mine
class: !function proctor.integrations.lm_eval.task.BenchmarkTask
benchmark: {path}
settings: {{limit: 1}}
repeats: 2
generation_kwargs: {{temperature: 0.5}}
""")
    with answering({str(path): replies}) as stub:
        task = "proctor_benchmark_file"
        options = {"file": str(path), "n": 2}
        results, samples = lm_eval(tmp_path, stub.url, [task], options)
        ours, _ = proctors_verdicts(proctor, tmp_path / "run", str(path), stub.url, 2)
        assert verdicts_of(samples[task]) == ours
        assert results["results"][task]["pass@1,standard"] == 0.5
        run(
            [LM_EVAL, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args",
             f"model=stub,base_url={stub.url}/chat/completions", "--tasks", "mine.yaml",
             "--apply_chat_template", "--output_path", "mine", "--log_samples"],
            tmp_path,
        )  # fmt: skip
        assert stub.bodies[-1]["temperature"] == 0.5
    [row] = rows_of(next((tmp_path / "mine").glob("stub/samples_mine_*.jsonl")))
    assert (row["doc"]["id"], row["pass@1"], row["pass@2"]) == ("1", 0.5, 1.0)


def test_an_export_is_read_as_lm_evals_own(proctor: Proctor, tmp_path: Path) -> None:
    """By its readers; hashes of documents and prompts are those of its own run."""
    name, task = "livecodebench", "proctor_livecodebench"
    with answering({name: replies_to(name)}) as stub:
        results, samples = lm_eval(tmp_path, stub.url, [task], {"n": 3})
        _, rates = proctors_verdicts(proctor, tmp_path / "run", name, stub.url, 3)
    done = proctor("export", tmp_path / "run", "--format", "lm-eval", "--out", tmp_path / "as")
    assert done.returncode == 0, done.stderr
    paths = sorted((tmp_path / "as").rglob("*.json*"))
    (tmp_path / "readers.py").write_text(READERS)
    said = run([LM_EVAL, "readers.py", *paths], tmp_path).splitlines()
    read = json.loads(next(line for line in said if line.startswith('{"table"')))
    assert (read["rows"], read["results"], read["task"]) == (8, 1, task)
    assert len(set(read["times"])) == 1
    assert f"{rates['standard']:.4f}" in read["table"]
    [exported] = [rows_of(path) for path in paths if path.suffix == ".jsonl"]
    [figures] = [json.loads(path.read_text()) for path in paths if path.suffix == ".json"]
    assert figures["results"] == results["results"]
    assert figures["higher_is_better"] == results["higher_is_better"]
    assert figures["task_hashes"] == results["task_hashes"]
    assert verdicts_of(exported) == verdicts_of(samples[task])
    same = (
        "doc_id",
        "doc",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "metrics",
        "pass@1",
        "faults",
    )
    for ours, theirs in zip(exported, samples[task], strict=True):
        assert ours.keys() == theirs.keys()
        assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
        assert (
            ours["arguments"]["gen_args_0"]["arg_0"] == theirs["arguments"]["gen_args_0"]["arg_0"]
        )


def test_what_cannot_be(tmp_path: Path) -> None:
    """Errors before a model is asked, all in one process, which takes seconds to start."""
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("proctor_mbpp", {"n": 0}, "is at least 1, not 0"),
        ("proctor_mbpp", {"sorce": "x"}, "'sorce' is not one of the options"),
        ("proctor_classeval", {"prompt": "x"}, "--prompt is plain for classeval, not 'x'"),
        ("proctor_benchmark_file", {}, "names the file"),
        ("proctor_bigcodebench", {"prompt": "completion"}, "leave --apply_chat_template out"),
    ]
    (tmp_path / "wrong.py").write_text(WRONG)
    include = run([Path(LM_EVAL).with_name("proctor"), "lm-eval"], tmp_path).strip()
    cases = json.dumps([each[:2] for each in wrong])
    said = json.loads(run([LM_EVAL, "wrong.py", include, cases], tmp_path).splitlines()[-1])
    for message, (_, _, says) in zip(said, wrong, strict=True):
        assert says in message


def test_predictions_alone(tmp_path: Path) -> None:
    """--predict_only judges nothing; --limit and --system_instruction are lm-eval's."""
    replies = {name: ["```python\nprint(1)\n```"] for name in replies_to("livecodebench")}
    with answering({}) as stub:
        stub.answer = lambda call: call.reply(replies["proctor-01-lantern-rows"][0])
        _, samples = lm_eval(
            tmp_path, stub.url, ["proctor_livecodebench"], {}, "--predict_only", "--limit", "2",
            "--system_instruction", "Be brief.",
        )  # fmt: skip
        system, *_ = stub.bodies[0]["messages"]
    assert system["content"].startswith("Be brief.\n\nYou solve")
    rows = samples["proctor_livecodebench"]
    assert [row["filter"] for row in rows] == ["none", "none"]
    assert rows[0]["resps"] == [["```python\nprint(1)\n```"]]
