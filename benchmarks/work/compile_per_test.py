"""Judges A+B the way the published IOI pipeline does: everything is compiled anew for each test.

Plain subprocesses, no isolation: the pipeline's own sandbox would come on top.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = ["-std=gnu++17", "-O2", "-pipe", "-s"]


def main(package: Path, solution: Path) -> None:
    passed = 0
    for given in sorted((package / "tests").glob("*.in")):
        with tempfile.TemporaryDirectory() as place:
            work = Path(place)
            grader, checker = package / "grader.cpp", package / "checker.cpp"
            subprocess.run(["g++", *FLAGS, "-o", work / "checker", checker], check=True)
            sources = ["-DEVAL", "-I", package, solution, grader]
            subprocess.run(["g++", *FLAGS, *sources, "-o", work / "program"], check=True)
            with given.open() as stdin, (work / "out").open("w") as stdout:
                subprocess.run([work / "program"], stdin=stdin, stdout=stdout, check=True)
            files = [given, work / "out", given.with_suffix(".ans")]
            passed += subprocess.run([work / "checker", *files], check=False).returncode == 0
    print(passed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
