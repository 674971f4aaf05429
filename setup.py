"""Builds the one C extension, which only Linux has a use for; the rest is pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

lockdown = Extension(
    "proctor.cell._lockdown",
    sources=["src/proctor/cell/lockdown.c"],
    depends=[str(path) for path in Path("src/proctor/cell").glob("*.h")],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    extra_compile_args=["-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    py_limited_api=True,
)

setup(ext_modules=[lockdown] if sys.platform == "linux" else [])
