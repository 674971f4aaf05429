"""Rewards for several samples per problem. What could not be judged is masked, never scored 0."""

from proctor import JudgeSettings, Limits, Problem, Test, judge_many, open_pool

double = Problem("double", (Test("2\n", "4\n"), Test("-3\n", "-6\n")))
greet = Problem("greet", (Test('"Ada"', '"Hello, Ada"'),), function="greet")
broken = Problem("lost-its-tests", ())

SAMPLES = [
    (double, "print(int(input()) * 2)"),
    (double, "print(int(input()) ** 2)"),
    (double, "import os\nos.kill(os.getppid(), 9)"),
    (double, ""),
    (greet, "def greet(name):\n    return f'Hello, {name}'"),
    (greet, "class Solution:\n    def greet(self, name):\n        return name"),
    (broken, "print(42)"),
]

settings = JudgeSettings(limits=Limits(cpu=2.0))
rewards = [0.0] * len(SAMPLES)
mask = [False] * len(SAMPLES)  # True: leave this sample out of the update

# Opened once per training process, not once per batch.
with open_pool() as pool:
    for judged in judge_many(SAMPLES, settings=settings, pool=pool):
        judgement = judged.judgement
        mask[judged.index] = judgement.verdict.is_fault
        rewards[judged.index] = float(judgement.passed)
        shown = "masked" if mask[judged.index] else f"reward {rewards[judged.index]}"
        print(f"sample {judged.index}: {judgement.verdict}, {shown}")

scored = [reward for reward, masked in zip(rewards, mask, strict=True) if not masked]
print(f"mean reward {sum(scored) / len(scored):.3f} over {len(scored)} scored samples")
