"""Names that come from the source."""

import pytest

from proctor.languages import naming, registry

JAVA = registry.get("java")


@pytest.mark.parametrize(
    ("source", "file", "start"),
    [
        ("public class Sum { public static void main(String[] a) {} }", "Sum.java", "Sum"),
        ("class A {} class B { public static void main(String... a) {} }", "B.java", "B"),
        ("class Sum { int x; }", "Sum.java", "Sum"),
        ("package a.b; public final class C { static final void main(String[] x) {} }",
         "C.java", "a.b.C"),
        ("// public class No {}\n/* class No2 { */ public class Yes { static void main() {} }",
         "Yes.java", "Yes"),
        ('class A { String s = "{ class No { static void main("; char c = \'{\'; }\n'
         "class B { static void main(String[] a) {} }", "B.java", "B"),
        ("class Outer { static class Inner {} public static void main(String[] a) {} }",
         "Outer.java", "Outer"),
        ("interface Shape {} record P(int x) {} enum E { A; static void main(String[] a) {} }",
         "E.java", "E"),
        ("public class Solver { class main {} }\nclass Start { static void main(String[] a) {} }",
         "Solver.java", "Start"),
        ("@SuppressWarnings(\"all\") public strictfp class S { static void main(String[] a) {} }",
         "S.java", "S"),
        ("", "Main.java", "Main"),
        ("}}}} class A", "Main.java", "Main"),
        (f"public class {'A' * 300} {{ static void main(String[] a) {{}} }}",
         "Main.java", "A" * 300),
    ],
)  # fmt: skip
def test_classes(source: str, file: str, start: str) -> None:
    assert naming.file_name(JAVA, source) == file
    assert naming.main_class([source]) == start


def test_the_class_that_starts_may_be_in_another_file() -> None:
    solution = "class task { int solve() { return 1; } }"
    grader = "public class grader { public static void main(String[] args) {} }"
    values = naming.values(JAVA, "task.java", {"grader.java": grader, "task.java": solution})
    assert values == {"source": "task.java", "stem": "task", "class": "grader"}
    assert naming.main_class([solution, "class helper {}"]) == "task"
    assert naming.main_class([]) == "Main"


def test_other_languages_have_one_name() -> None:
    assert naming.file_name(registry.get("cpp17"), "class A {};") == "main.cpp"
    values = naming.values(registry.get("typescript"), "sub/a.b.ts", {})
    assert values == {"source": "sub/a.b.ts", "stem": "sub/a.b"}


def test_sources_and_headers() -> None:
    cpp = registry.get("cpp17")
    assert naming.is_source(cpp, "a/grader.cpp")
    assert not naming.is_source(cpp, "grader.h")
    assert naming.is_header(cpp, "grader.h")
    assert not naming.is_header(cpp, "data.txt")
