"""Programs whose own code would run while they are compiled: it may prepare nothing for the run."""

from collections.abc import Iterator

import pytest

from language_here import need
from proctor.errors import CompileFailed, InputError
from proctor.judging.judge import judge
from proctor.languages import registry
from proctor.languages.pools import open_pool
from proctor.languages.run import run
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool

SPLICE = (
    "{-# LANGUAGE TemplateHaskell #-}\nimport Language.Haskell.TH\nimport System.Process\n"
    'main = putStr $(runIO (readCreateProcess (shell "echo 42") "") >>= litE . stringL)\n'
)
PURE_SPLICE = (
    "{-# LANGUAGE TemplateHaskell #-}\n"
    "main = print $(let f n = if n < 2 then n else f (n - 1) + f (n - 2)\n"
    "               in if f 20 > (1 :: Int) then [| 42 |] else [| 0 |])\n"
)
BY_SHELL = 'main = putStr "42"\n'
NO_CODE = "Code is not run while compiling"
NO_PROGRAMS = "a pragma may not name programs"


@pytest.fixture(scope="module")
def compilers() -> Iterator[Pool]:
    """A cell that sees what compilers read outside /usr."""
    with open_pool(cells=1) as opened:
        yield opened


@pytest.mark.language("perl")
def test_a_check_of_the_syntax_leaves_nothing_for_the_run(pool: Pool) -> None:
    source = (
        'BEGIN { $known = -e "note"; open F, ">", "note"; close F; }\n'
        'print $known ? "computed before" : "computed now";\n'
    )
    assert run(Program(source, "perl"), limits=Limits(disk=1 << 20), pool=pool).stdout == (
        b"computed now"
    )


@pytest.mark.parametrize("language", ["python", "pypy"])
def test_modules_beside_a_program_are_not_run_to_compile_it(pool: Pool, language: str) -> None:
    need(language)
    beside = b"open('note', 'w').write('x')\n"
    source = "import os\nprint(os.path.exists('note'))\n"
    program = Program(source, language, files={"py_compile.py": beside, "argparse.py": beside})
    problem = Problem("p", (Test("", "False\n"),))
    assert judge(problem, program, pool=pool).passed


@pytest.mark.language("haskell")
@pytest.mark.parametrize(
    ("source", "files", "said"),
    [
        (SPLICE, {}, NO_CODE),
        (PURE_SPLICE, {}, NO_CODE),
        ("{-# OPTIONS_GHC -fno-external-interpreter #-}\n" + SPLICE, {}, NO_CODE),
        ("{-# ANN module (sum [1 .. 1000 :: Int]) #-}\n" + BY_SHELL, {}, NO_CODE),
        ("{-# OPTIONS_GHC -fplugin=P #-}\n" + BY_SHELL, {"P.hs": b"module P where\n"}, NO_CODE),
        ("{-# OPTIONS_GHC -F -pgmF sh #-}\n" + BY_SHELL, {}, NO_PROGRAMS),
        ("{-#\n options_ghc\n -Wall -F\n -pgmF=sh #-}\n" + BY_SHELL, {}, NO_PROGRAMS),
        ('{-# OPTIONS_GHC "-F" "-\\112gmF" "sh" #-}\n' + BY_SHELL, {}, NO_PROGRAMS),
        ("{-# OPTIONS_GHC -optc -wrapper -optc sh,x #-}\n" + BY_SHELL, {}, NO_PROGRAMS),
        ("import M\nmain = m", {"M.hs": b"{-# OPTIONS -F -pgmF sh #-}\nmodule M where\n"},
         NO_PROGRAMS),
        ("{-# LANGUAGE CPP #-}\n#define A -F -pg/**/mF sh\n{-# OPTIONS_GHC A #-}\n" + BY_SHELL, {},
         NO_PROGRAMS),
    ],
    ids=range(11),
)  # fmt: skip
def test_haskell_runs_nothing_while_compiling(
    compilers: Pool, source: str, files: dict[str, bytes], said: str
) -> None:
    with pytest.raises(CompileFailed) as caught:
        run(Program(source, "haskell", files=files), pool=compilers)
    assert said in caught.value.output


@pytest.mark.language("haskell")
def test_haskell_keeps_the_pragmas_that_programs_use(compilers: Pool) -> None:
    source = (
        "{-# LANGUAGE CPP, BangPatterns #-}\n"
        "{-# OPTIONS_GHC -O2 -Wall -funbox-strict-fields -optc-O3 #-}\n"
        "import M\n#if __GLASGOW_HASKELL__ >= 800\nmain = print (m - 1)\n#endif\n"
    )
    files = {"M.hs": b"module M where\nm :: Int\nm = 43\n"}
    assert run(Program(source, "haskell", files=files), pool=compilers).stdout == b"42\n"


def test_a_submission_may_not_bring_a_build_script(pool: Pool) -> None:
    problem = Problem("p", (Test("", "42\n"),))
    build = "#!/bin/sh\nprintf '#!/bin/sh\\necho 42\\n' > run\n"
    with pytest.raises(InputError, match="while it is built"):
        judge(problem, Program(build, "build-run"), pool=pool)
    assert run(Program(build, "build-run"), pool=pool).stdout == b"42\n"


def test_what_a_build_leaves_running_is_gone_when_the_program_runs(pool: Pool) -> None:
    build = (
        "#!/bin/bash\n(while :; do echo late > late; echo 'echo spoiled' > run; done) &\n"
        "sleep 0.1\nrm -f run\nprintf '#!/bin/sh\\nsleep 0.2; cat late; echo end\\n' > run.new\n"
        "kill -STOP $!\nmv run.new run\nrm -f late\n"
    )
    assert run(Program(build, "build-run"), pool=pool).stdout == b"end\n"


def test_every_compile_step_has_limits() -> None:
    for language in registry.languages().values():
        if (step := language.compile) is not None:
            assert 0 < step.cpu <= 120
            assert 0 < step.memory <= 2 << 30
            assert 0 < step.processes <= 64
            assert 0 < step.disk <= 1 << 30
