"""Sources that are made to keep the host busy before any cell has seen them."""

import pytest

from proctor.languages import naming, registry
from proctor.languages.headers import _FIRST_INCLUDE

N = 200_000
# What these take grows with their length alone; a square of it would outlast the test by far.
pytestmark = pytest.mark.usefixtures("ends")


@pytest.mark.parametrize(
    "source",
    [
        b"/**/" * N, b"/*" * N, b" " * N + b"x", b"#define\n" * N, b"# " * N, b"//\n" * N + b"#",
        b"#include " + b" " * N, b"#include <" + b"a" * N, b"#" * N, b"\n#\tpragma" * N,
    ],
    ids=range(10),
)  # fmt: skip
def test_the_first_include_is_looked_for_in_linear_time(source: bytes) -> None:
    assert _FIRST_INCLUDE.match(source + b"\x00") is None


@pytest.mark.parametrize(
    ("source", "first"),
    [
        (b"#include <bits/stdc++.h>", b"bits/stdc++.h"),
        (b"// x\n/* y */ # pragma once\n#define X \"y\"\n#include \"a.h\"\n#include <b>", b"a.h"),
        (b"/* a */ /* #include <no> */ #include<yes>", b"yes"),
        (b"int x;\n#include <a>", None),
        (b"#include <\xff>", b"\xff"),
    ],
)  # fmt: skip
def test_the_first_include(source: bytes, first: bytes | None) -> None:
    found = _FIRST_INCLUDE.match(source)
    assert (found and found[1]) == first


@pytest.mark.parametrize(
    "source",
    [
        "/*" * N, '\\"' * N, '"""\\' * N, "'\\" * N, "public final " * N, "static " * N + " " * N,
        "package " * N, "class" + " " * N, '"' * N, "/\\" * N + "'",
    ],
    ids=range(10),
)  # fmt: skip
def test_java_classes_are_looked_for_in_linear_time(source: str) -> None:
    assert naming.file_name(registry.get("java"), source)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("source", ["class a ", "class a { ", "class a { } ", "} class a "])
def test_a_million_java_classes_are_looked_through_once(source: str) -> None:
    assert naming.file_name(registry.get("java"), source * 1_000_000)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('class A { String s = "/*"; }\npublic final strictfp class B { char c = \'"\'; }', "B.java"),
        ('/* public class A { } */ class C { String s = """\n " public class D {\n"""; }', "C.java"),
        ("class E { /* never closed\npublic class F", "E.java"),
    ],
)  # fmt: skip
def test_names_of_java_files(source: str, name: str) -> None:
    assert naming.file_name(registry.get("java"), source) == name
