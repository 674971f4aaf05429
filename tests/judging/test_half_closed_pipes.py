"""Pipes of which a party closes one end and goes on: the other party must see it at once."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tasks import problem

from proctor.grading import Convention
from proctor.judging.judge import judge
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, Problem, Stub
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

pytestmark = [pytest.mark.timeout(120), pytest.mark.compiler]

# Programs that say 3 and 4, close what they write to, and then hear 7.
SAYS = {
    "os.close": "import os\nos.write(1, b'3\\n4\\n')\nos.close(1)\n",
    "stdout.close": "import sys, os\nprint(3)\nprint(4)\nsys.stdout.close()\nos.close(1)\n",
    "dup2": "import os\nprint(3)\nprint(4, flush=True)\nn = os.open('/dev/null', 1)\nos.dup2(n, 1)\n",
    "child": """
import os
if os.fork() == 0:
    os.write(1, b'3\\n4\\n')
    os._exit(0)
os.close(1)
os.wait()
""",
}
