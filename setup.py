"""Builds the one C extension, which only Linux has a use for; the rest is pyproject.toml."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent
COMPILING = {"bdist_wheel", "build", "build_ext", "develop", "editable_wheel", "install"}
"""Commands that need the extension; an sdist can be made without a compiler."""
HEADERS = "#include <stdio.h>\n#include <linux/seccomp.h>\n#include <Python.h>\n"
PACKAGES = (
    "Debian and Ubuntu: apt install gcc libc6-dev python3-dev; "
    "Fedora: dnf install gcc python3-devel; "
    "Alpine: apk add gcc musl-dev linux-headers python3-dev"
)

lockdown = Extension(
    "proctor.cell._lockdown",
    sources=["src/proctor/cell/lockdown.c"],
    depends=[str(path) for path in Path("src/proctor/cell").glob("*.h")],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    extra_compile_args=["-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    py_limited_api=True,
)


def missing_tool() -> str | None:
    """Return what compiling would fail for, so that it is said in a sentence and not in a log."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    include = sysconfig.get_path("include")
    try:
        tried = subprocess.run(
            [*compiler, "-E", "-I", include, "-x", "c", "-", "-o", os.devnull],
            input=HEADERS, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        return f"a C compiler ({compiler[0]} is not installed)"
    if not tried.returncode:
        return None
    lacking = re.search(r"[\w/]+\.h(?=: No such file|' file not found)", tried.stderr)
    if lacking:
        return f"C headers ({lacking[0]} was not found)"
    return f"a C compiler that works ({tried.stderr.strip().splitlines()[-1:]})"


def readme() -> str:
    """Return README.md; where the project has a home, with links that work on PyPI too."""
    text = (HERE / "README.md").read_text("utf-8")
    urls = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    if "Repository" not in urls:
        return text
    return re.sub(r"\]\((?!https?:|#|mailto:)", f"]({urls['Repository']}/blob/HEAD/", text)


if sys.platform == "linux" and COMPILING & set(sys.argv) and (missing := missing_tool()):
    sys.exit(f"error: to build proctor from source takes {missing}. {PACKAGES}.")

setup(
    ext_modules=[lockdown] if sys.platform == "linux" else [],
    long_description=readme(),
    long_description_content_type="text/markdown",
)
