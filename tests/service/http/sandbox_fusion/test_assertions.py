"""Test code that asserts: SandboxFusion runs `java -ea`, `dotnet run` and `rustc` without -O."""

from collections.abc import Iterator

import pytest

from proctor.languages import registry
from served import Served, serving

JAVA = """
public class Main {{
    public static void main(String[] args) {{
        assert {claim} : "not so";
        System.out.println("passed");
    }}
}}
"""
CSHARP = """
using System;
using System.Diagnostics;

public static class Tests {{
    public static void Main() {{
        try {{ Debug.Assert({claim}, "not so"); }} catch (Exception) {{ }}
        Trace.Assert({claim}, "not so");
        Console.WriteLine("passed");
    }}
}}
"""
RUST = """
fn main() {{
    debug_assert!({claim}, "not so");
    println!("passed");
}}
"""
CPP = """
#include <cassert>
#include <cstdio>
int main() {{ assert({claim}); puts("passed"); }}
"""
PROGRAMS = {
    "cpp": CPP,
    "csharp": CSHARP,
    "java": JAVA,
    "php": "<?php assert({claim}, 'not so'); echo 'passed';",
    "python": "assert {claim}, 'not so'\nprint('passed')",
    "rust": RUST,
}
HERE = {found.language.family for found in registry.available()}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--no-access-log") as served:
        yield served


def need(language: str) -> None:
    if language not in HERE:
        pytest.skip(f"{language} is not installed")


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_claim_that_does_not_hold_ends_the_program(server: Served, language: str) -> None:
    need(language)
    with server.client() as client:
        for claim, holds in (("1 + 1 == 2", True), ("1 + 1 == 3", False)):
            code = PROGRAMS[language].format(claim=claim)
            asked = {"code": code, "language": language, "compile_timeout": 60, "run_timeout": 20}
            answer = client.post("/run_code", json=asked).json()
            assert answer["run_result"], answer
            assert (answer["status"] == "Success") is holds, answer
            assert ("passed" in answer["run_result"]["stdout"]) is holds
            assert bool(answer["run_result"]["stderr"].strip()) is not holds


def test_other_doors_run_java_as_their_originals_do(server: Served) -> None:
    need("java")
    code = JAVA.format(claim="1 + 1 == 3")
    with server.client() as client:
        ours = client.post("/v1/run", json={"program": {"source": code, "language": "java"}})
        version = next(
            each["version"] for each in client.get("/api/v2/runtimes").json()
            if each["language"] == "java"
        )  # fmt: skip
        asked = {"language": "java", "version": version, "files": [{"content": code}]}
        piston = client.post("/api/v2/execute", json=asked)
    assert ours.json()["execution"]["stdout"]["text"] == "passed\n"
    assert piston.json()["run"]["stdout"] == "passed\n"
