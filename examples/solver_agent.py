"""An agent that turns wishes in plain words into a timetable that a validator accepts.

Translate, plan, code, run, validate, repair: a model does the first three and the last, proctor
runs what it writes and says what is wrong with it. Without arguments it replays recorded replies,
whose first program has a bug and whose second breaks a wish; or it asks any server that speaks
OpenAI's API:

    python solver_agent.py
    python solver_agent.py --model my-model --base-url http://localhost:8000/v1
"""

import argparse
import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor import Message, SolveEnvelope, SolverHost, solve_async
from proctor.errors import InputError
from proctor.evals.extraction import extract
from proctor.evals.models.model import Model, ModelRequest
from proctor.evals.models.opening import open_model
from proctor.evals.settings import Settings
from proctor.solver import profile as profiles
from proctor.solver.profile import prompt
from proctor.timetable.validate import validate

RECORDING = Path(__file__).with_suffix(".jsonl")
TRANSLATIONS, PROGRAMS = 2, 4
"""How often a model is asked for each, at most."""
SHOWN = 8
"""Violations that it is told of."""

SCHOOL = {
    "classes": ["6A", "6B"],
    "days": ["Mon", "Tue", "Wed"],
    "periods": [1, 2, 3],
    "assignments": [
        {"id": "a1", "class": "6A", "subject": "Music", "teacher": "Clara", "weeklyPeriods": 2},
        {"id": "a2", "class": "6B", "subject": "Music", "teacher": "Clara", "weeklyPeriods": 1},
        {"id": "a3", "class": "6A", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 3},
        {"id": "a4", "class": "6B", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 3},
    ],
}
WISHES = "Clara does not work on Mondays. If it can be had, no Maths in the last period."

TRANSLATE = """A school has this data:

{school}

and these wishes: {wishes}

Write the wishes as constraints, a JSON array in one fenced block and nothing else. What must be is
`hard`, what would be nice is `soft`. Kinds and their params are at the end of this text:

{contract}"""
PLAN = """{contract}

The input is:

{given}

Say in at most five sentences how you would solve it. Write no code yet."""
CODE = "Now write the program, in one fenced block."
REPAIR = "That program did not pass. {feedback}\n\nWrite the whole program again, repaired."


class GaveUp(Exception):
    """All attempts are used up, or going on makes no sense."""


@dataclass
class Agent:
    """One task's way through the model and back."""

    model: Model
    host: SolverHost
    timeout: float = 20.0

    async def solve(self, school: dict[str, Any], wishes: str) -> SolveEnvelope:
        """Return an accepted envelope. Raises GaveUp."""
        contract = prompt(profiles.load("timetable"))
        given = await self.translate(school, wishes, contract)
        shown = json.dumps(given, indent=1)
        talk = [Message("user", PLAN.format(contract=contract, given=shown))]
        talk.append(Message("assistant", await self.ask("plan", 0, talk)))
        talk.append(Message("user", CODE))
        for attempt in range(PROGRAMS):
            reply = await self.ask("code", attempt, talk)
            envelope = await solve_async(
                extract(reply).code, given, "timetable", timeout=self.timeout, host=self.host
            )
            print(f"program {attempt + 1}: {summary(envelope)}")
            if envelope.accepted:
                return envelope
            if envelope.fault is not None:  # nobody has judged it: there is nothing to repair
                raise GaveUp(f"proctor could not run it: {envelope.fault.message}")
            # Only the last program and what is wrong with it: earlier ones are of no use.
            talk[3:] = [
                Message("assistant", reply),
                Message("user", REPAIR.format(feedback=feedback(envelope))),
            ]
        raise GaveUp(f"no program was accepted in {PROGRAMS} attempts")

    async def translate(self, school: dict[str, Any], wishes: str, contract: str) -> dict[str, Any]:
        """Return the school with constraints that the validator knows. Raises GaveUp."""
        text = TRANSLATE.format(school=json.dumps(school), wishes=wishes, contract=contract)
        talk = [Message("user", text)]
        for attempt in range(TRANSLATIONS):
            reply = await self.ask("translate", attempt, talk)
            given = {**school, "constraints": constraints(reply)}
            wrong = not_checkable(given)
            if not wrong:
                print(f"wishes: {', '.join(each['kind'] for each in given['constraints'])}")
                return given
            talk[1:] = [
                Message("assistant", reply),
                Message("user", "These cannot be checked:\n" + "\n".join(wrong)),
            ]
        raise GaveUp("the wishes could not be translated")

    async def ask(self, step: str, attempt: int, talk: list[Message]) -> str:
        """Return one reply."""
        return (await self.model.generate(ModelRequest(tuple(talk), step, attempt))).text


def constraints(reply: str) -> Any:
    """Return what is in the last fenced block, or the text if that is not JSON."""
    text = reply.rpartition("```")[0].rpartition("```")[2].removeprefix("json")
    try:
        return json.loads(text or reply)
    except ValueError:
        return reply


def not_checkable(given: dict[str, Any]) -> list[str]:
    """Return why constraints would fail any timetable; the empty one shows it as well."""
    try:
        report = validate(given, {"status": "FEASIBLE", "schedule": []})
    except InputError as error:
        return [str(error)]
    return list(report.unchecked_notes)


def summary(envelope: SolveEnvelope) -> str:
    """Return one line for people."""
    words = [envelope.status, envelope.status_detail, "accepted" if envelope.accepted else "no"]
    return ", ".join(word for word in words if word)


def feedback(envelope: SolveEnvelope) -> str:
    """Return what a model needs to know: how it ended, what it said, what is broken, and where."""
    lines = [f"It ended with status {envelope.status} ({envelope.status_detail or 'no detail'})."]
    if envelope.error_digest:
        lines.append(f"Digest:\n{envelope.error_digest}")
    if envelope.report is not None:
        for each in envelope.report.hard_violations[:SHOWN]:
            entries = json.dumps(each.offending_entries[:3], default=dict)
            lines.append(f"Broken: {each.constraint_id} ({each.kind}): {each.message} {entries}")
    lines += [f"Warning: {each}" for each in envelope.warnings]
    return "\n".join(lines)


async def main() -> None:
    """Solve the school above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default=f"replay:{RECORDING}")
    parser.add_argument("--base-url", default="")
    typed = parser.parse_args()
    model = open_model(Settings(model=typed.model, base_url=typed.base_url), os.environ)
    try:
        with SolverHost(cells=1) as host:
            envelope = await Agent(model, host).solve(SCHOOL, WISHES)
    finally:
        await model.close()
    for each in envelope.answer.data["schedule"]:
        print(f"{each['day']} {each['period']}  {each['class']}  {each['subject']}")
    print(f"penalty {envelope.answer.objective:g}, {envelope.status}")


if __name__ == "__main__":
    asyncio.run(main())
