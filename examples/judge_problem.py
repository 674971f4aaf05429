"""Judge a few programs against a problem that is defined right here."""

from proctor import JudgeSettings, Limits, Problem, Test, judge

problem = Problem(
    id="largest-sum",
    tests=(
        Test("5\n1 2 -9 3 4\n", "7\n", public=True),
        Test("3\n-5 -2 -8\n", "-2\n"),
        Test("1\n0\n", "0\n"),
    ),
)

PROGRAMS = {
    "right": """
input()
best = here = None
for number in map(int, input().split()):
    here = number if here is None or here < 0 else here + number
    best = here if best is None else max(best, here)
print(best)
""",
    "forgets that all may be negative": """
input()
best = here = 0
for number in map(int, input().split()):
    here = max(here + number, 0)
    best = max(best, here)
print(best)
""",
    "never ends": "while True: pass",
    "does not compile": "print(",
}

settings = JudgeSettings(limits=Limits(cpu=0.3, memory=256 << 20), stop="never")
for name, source in PROGRAMS.items():
    judgement = judge(problem, source, settings=settings)
    tests = " ".join(test.verdict for test in judgement.tests)
    print(f"{name}: {judgement.verdict}, score {judgement.score:.2f} [{tests}]")
    if judgement.message:
        print(f"    {judgement.message.splitlines()[-1]}")
