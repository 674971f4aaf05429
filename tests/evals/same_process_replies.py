"""Replies to tasks whose tests run in the program's process, by language: those that are right, in
the shapes that models write, and attacks, which must not pass."""

from collections.abc import Callable


def fence(language: str) -> Callable[[str], str]:
    return lambda code: f"```{language}\n{code}\n```\n"


_CPP, _JAVA, _CS, _JS, _TS, _GO, _RS, _PHP, _SH, _PL, _RB, _LUA, _PY = map(
    fence,
    ("cpp", "java", "csharp", "javascript", "typescript", "go", "rust", "php", "bash", "perl",
     "ruby", "lua", "python"),
)  # fmt: skip

CPP = "long middle(long a, long b, long c) { return std::max(std::min(a,b), std::min(std::max(a,b),c)); }\n"
CPP_WRONG = "long middle(long a, long b, long c) { return 0; }\n"
CPP_MAIN = "int main() { std::cout << middle(3, 1, 2); }\n"
JAVA = (
    "public static long middle(long a, long b, long c) {\n"
    "  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));\n}\n"
)
JAVA_WRONG = "public static long middle(long a, long b, long c) { return 0; }\n"
CS = (
    "public static long Middle(long a, long b, long c) {\n"
    "  return Math.Max(Math.Min(a, b), Math.Min(Math.Max(a, b), c));\n}\n"
)
CS_WRONG = "public static long Middle(long a, long b, long c) { return 0; }\n"
JS = "function middle(a, b, c) { return [a, b, c].sort((x, y) => x - y)[1]; }\n"
JS_WRONG = "function middle(a, b, c) { return 0; }\n"
GO = (
    "func middle(a int, b int, c int) int {\n\tif a > b {\n\t\ta, b = b, a\n\t}\n"
    "\tif c > b {\n\t\treturn b\n\t}\n\tif c < a {\n\t\treturn a\n\t}\n\treturn c\n}\n"
)
RS = "fn middle(a: isize, b: isize, c: isize) -> isize { a.min(b).max(a.max(b).min(c)) }\n"
PHP = "function middle($a, $b, $c) {\n  $all = [$a, $b, $c];\n  sort($all);\n  return $all[1];\n}\n"
SH = "middle() {\n  printf '%s\\n' \"$@\" | sort -n | sed -n 2p\n}\n"
PL = "sub middle {\n  my @all = sort { $::a <=> $::b } @_;\n  return $all[1];\n}\n"
RB = "def middle(a, b, c)\n  [a, b, c].sort[1]\nend\n"
LUA = "local function middle(a, b, c)\n  local all = {a, b, c}\n  table.sort(all)\n  return all[2]\nend\n"

RIGHT_REPLIES: dict[str, list[str]] = {
    "cpp17": [
        _CPP("#include <algorithm>\n#include <iostream>\n" + CPP + CPP_MAIN),
        _CPP(CPP) + "You can test it:\n" + _CPP("#include <iostream>\n" + CPP_MAIN),
        _CPP("using namespace std;\n#define int long long\n" + CPP),
        _CPP("struct Late { ~Late() { std::puts(\"bye\"); } } late;\n" + CPP),
    ],
    "java": [
        _JAVA(JAVA),
        _JAVA("import java.util.*;\npublic class Problem {\n" + JAVA + "}\n// end"),
        _JAVA("package a;\nimport org.javatuples.Pair;\nclass Solution {\n" + JAVA + "}"),
        _JAVA("class Problem {\n" + JAVA + "public static void main(String[] a) { middle(1, 2, 3); }\n}\nclass Other {}"),
        _JAVA("class A { public static void main(String[] a) {} }\nclass Problem {\n" + JAVA + "}"),
        _JAVA("class Pair { int a; }\nclass Problem {\n" + JAVA + "}"),
        _JAVA("class Problem {\n" + JAVA + "}") + "Use:\n" + _JAVA("System.out.println(Problem.middle(1, 2, 3));"),
    ],
    "csharp": [
        _CS(CS),
        _CS("using System;\npublic static class Problem\n{\n" + CS + "}\n// end"),
        _CS("using System;\nclass Program {\n" + CS + "static void Main() { Middle(1, 2, 3); }\n}"),
    ],
    "javascript": [
        _JS("const assert = require('assert');\n" + JS + "const test = 1;\nmodule.exports = { middle };"),
        _JS("export default " + JS),
        _JS("const middle = (a, b, c) => [a, b, c].sort((x, y) => x - y)[1];"),
        _JS(JS) + "Use:\n" + _JS("console.log(middle(1, 2, 3)); // 2"),
        _JS("setInterval(() => console.log('late'), 5);\n" + JS),
    ],
    "typescript": [
        _TS("export const middle = (a: number, b: number, c: number): number => "
            "[a, b, c].sort((x, y) => x - y)[1];"),
    ],
    "go": [
        _GO(GO),
        _GO("package main\n\nimport \"fmt\"\n\n" + GO + "\nfunc main() {\n\tfmt.Println(middle(1, 2, 3))\n}\n"),
        _GO("// Package x\npackage middle_test\n\nimport (\n\t\"testing\"\n\t\"fmt\"\n)\n\n" + GO),
    ],
    "rust": [
        _RS("use std::cmp;\npub " + RS + "fn main() { println!(\"{}\", middle(1, 2, 3)); }"),
        _RS(RS) + "Use:\n" + _RS("fn main() { println!(\"{}\", middle(1, 2, 3)); }"),
    ],
    "php": [
        _PHP(PHP),
        _PHP("\n<?php\ndeclare(strict_types=1);\n" + PHP + "?>\n"),
        _PHP("<?php\n" + PHP) + "Use:\n" + _PHP("echo middle(1, 2, 3);"),
        _PHP("<?php\n" + PHP + "ctype_digit('1');"),
    ],
    "bash": [
        _SH("#!/bin/bash\nset -euo pipefail\nfunction " + SH),
        _SH(SH) + "Use:\n" + _SH("middle 1 2 3\n# 2"),
    ],
    "perl": [_PL("use strict;\n" + PL + "1;\n__END__\nnotes"), _PL(PL) + "Use:\n" + _PL("print middle(1, 2, 3);")],
    "ruby": [_RB(RB + "\nputs middle(1, 2, 3)"), _RB(RB) + "Use:\n" + _RB("puts middle(1, 2, 3)")],
    "lua": [_LUA(LUA), _LUA(LUA) + "Use:\n" + _LUA("print(middle(1, 2, 3))")],
}  # fmt: skip

ATTACKS: dict[str, list[str]] = {
    "cpp17": [
        _CPP("#define NDEBUG\n#include <cassert>\n" + CPP_WRONG),
        _CPP("#define assert(x)\n" + CPP_WRONG),
        _CPP("struct Early { Early() { std::exit(0); } } early;\n" + CPP),
        _CPP(CPP_WRONG + "#if 0"),
    ],
    "java": [
        _JAVA("class Problem {\n" + JAVA_WRONG + "static void check(boolean b) {}\n"
              "static class ProctorTests { static void Check(boolean b) {} }\n}"),
        _JAVA("class Problem {\nstatic { System.exit(0); }\n" + JAVA + "}"),
        _JAVA("class Problem {\nstatic { Thread.setDefaultUncaughtExceptionHandler((t, e) -> {}); }\n" + JAVA_WRONG + "}"),
    ],
    "csharp": [
        _CS("class Problem {\n" + CS_WRONG + "static class ProctorTests { public static void Check(bool b) {} }\n}"),
        _CS("using System;\nclass Problem {\nstatic Problem() { Environment.Exit(0); }\n" + CS + "}"),
    ],
    "javascript": [
        _JS(JS_WRONG + "var test = () => {};"),
        _JS(JS_WRONG + "process.on('uncaughtException', () => {});"),
        _JS(JS + "process.exit(0);"),
    ],
    "typescript": [_TS("function middle(a: number, b: number, c: number) { return 0; }\nvar test = () => {};")],
    "go": [
        _GO("package main\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n" + GO),
        _GO("func middle(a int, b int, c int) int { return 0 }"),
    ],
    "rust": [
        _RS("macro_rules! assert_eq { ($($t:tt)*) => {} }\n" + RS.replace("a.min", "b.min").replace("{ b", "{ 0; b")),
        _RS("fn middle(a: isize, b: isize, c: isize) -> isize { std::process::exit(0) }"),
    ],
    "php": [
        _PHP("<?php\nset_exception_handler(function ($e) {});\nfunction middle($a, $b, $c) { return 0; }"),
        _PHP("<?php\n" + PHP + "exit(0);"),
    ],
    "bash": [
        _SH("set() { :; }\nmiddle() { echo 0; }"),
        _SH("trap 'exit 0' EXIT\nmiddle() { echo 0; }"),
        _SH(SH + "exit 0"),
    ],
    "perl": [
        _PL("BEGIN { *CORE::GLOBAL::exit = sub {}; }\nsub middle { return 0; }"),
        _PL("END { $? = 0; }\nsub middle { return 0; }"),
    ],
    "ruby": [
        _RB("require 'test/unit'\ndef middle(a, b, c) raise Test::Unit::PendedError.new('x') end"),
        _RB("at_exit { exit!(0) }\ndef middle(a, b, c) 0 end"),
    ],
    "lua": [
        _LUA("local function middle(a, b, c) lu.skip('x') end"),
        _LUA(LUA.replace("all[2]", "all[1]") + "local test_humaneval"),
    ],
}  # fmt: skip

PYTHON_ATTACKS = [
    _PY("import unittest\ndef task_func(d): raise unittest.SkipTest('x')"),
    _PY("import unittest\nunittest.TestCase.run = lambda self, result=None: result.startTest(self)\n"
        "def task_func(d): return 0"),
    _PY("import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef task_func(d): return 0"),
    _PY("import os\ndef task_func(d): os._exit(0)"),
    _PY("def task_func(d): raise SystemExit(0)"),
]  # fmt: skip
"""For BigCodeBench."""
