"""Grading a predicted value, inside a cell: loaded there as a program, of which `answer` is called.

Each call has a process of its own. The text of a prediction is parsed, not executed, save in
`asserted` and `evaluated`, which do what the published evaluators do.
"""

import ast
import contextlib
import importlib
from typing import Any

_MORE = {"np": "numpy", "pd": "pandas"}
"""Modules that lcb_runner imports for these tasks, by name; here only if a task mentions them."""
_TOO_MUCH = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""Errors that parsing raises for malformed or endless text."""

Found = tuple[bool, Any]
"""True and a value, or False and why there is none."""


def answer(what: str, *given: Any) -> Found:
    """Call the function below that is named `what`."""
    asked: dict[str, Any] = {
        "called": called, "literal": literal, "called_with": called_with, "asserted": asserted,
        "evaluated": evaluated,
    }  # fmt: skip
    found: Found = asked[what](*given)
    return found


def called(code: str, call: str, imports: bool) -> Found:
    """Return the value of a task's own call. Raises what the task raises."""
    names = _loaded(code, imports)
    return True, eval(call, names)  # noqa: S307 - the task's own call, as its code is


def literal(text: str) -> Found:
    """Return the literal that a text is, or that stands last in `[assert] x == literal`."""
    try:
        body = ast.parse(text.strip()).body
        first = body[0] if body else None
        if isinstance(first, ast.Assert):
            node = first.test
        elif isinstance(first, ast.Expr) and len(body) == 1:
            node = first.value
        else:
            return False, "it is neither an expression nor an assertion"
        if isinstance(node, ast.Compare):
            if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
                return False, "it compares otherwise than with one =="
            node = node.comparators[0]
        elif isinstance(first, ast.Assert):
            return False, "it asserts no =="
        return True, _value(node)
    except _TOO_MUCH as error:
        return False, f"{type(error).__name__}: {error}"


def called_with(code: str, function: str, text: str, imports: bool) -> Found:
    """Return a task's value for predicted arguments: `f(1, k=2)`, or `1, k=2`, all literals.

    Raises what the task raises.
    """
    try:
        try:
            call = _call(text.strip(), function)
        except SyntaxError:  # `k=2` alone is not an expression
            call = None
        if call is None:
            call = _call(f"{function}({text.strip()}\n)", function)
        if call is None:
            return False, f"it is no call of {function}"
        given = [_value(each) for each in call.args]
        named = {each.arg: _value(each.value) for each in call.keywords if each.arg is not None}
        if len(named) != len(call.keywords):
            return False, "it unpacks arguments, or names one twice"
    except _TOO_MUCH as error:
        return False, f"{type(error).__name__}: {error}"
    return True, _loaded(code, imports)[function](*given, **named)


def asserted(text: str, imports: bool) -> Found:
    """Return whether a text runs to its end with no assertion failing. Raises its other errors."""
    names = _names(text) if imports else {}
    try:
        exec(text, names)
    except AssertionError:
        return True, False
    return True, True


def evaluated(text: str) -> Found:
    """Return the value that an assertion states, as lcb_runner takes it. Raises what that raises.

    Of several lines, the first that says `assert` and is not a comment counts, and in it the
    expression after the first ==. Source: check_testcase_output in
    compute_test_output_prediction_metrics.py.
    """
    lines = text.splitlines()
    if len(lines) > 1:
        text = next((each for each in lines if "assert" in each and each[0] != "#"), text)
    text = text.strip()
    if "assert" in text:
        stated: Any = ast.parse(text).body[0]
        if not isinstance(stated.test.ops[0], ast.Eq):
            raise ValueError("not an equality")
        text = str(ast.get_source_segment(text, stated.test.comparators[0]))
    return True, eval(text, {})  # noqa: S307 - as upstream does, but in a cell


def _loaded(code: str, imports: bool) -> dict[str, Any]:
    names = _names(code) if imports else {}
    names["__name__"] = "task"
    exec(compile(code, "task.py", "exec", dont_inherit=True), names)
    return names


def _names(code: str) -> dict[str, Any]:
    """Return the names that lcb_runner's imports define: this program's preamble's, and more."""
    found = dict(globals())
    found["re_search"] = importlib.import_module("re").search
    found["commonprefix"] = importlib.import_module("os.path").commonprefix
    for name, module in _MORE.items():
        if f"{name}." in code:
            with contextlib.suppress(ImportError):
                found[name] = importlib.import_module(module)
    return found


def _call(text: str, function: str) -> ast.Call | None:
    match ast.parse(text, mode="eval").body:
        case ast.Call(ast.Name(name)) as call if name == function:
            return call
    return None


def _value(node: ast.expr) -> Any:
    """A literal's value; `inf`, `nan` and `float("...")` of them are literals here, too."""
    return ast.literal_eval(_Floats().visit(node))


class _Floats(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in {"inf", "nan"} else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Name("float"), [ast.Constant(str(text))], []):
                return ast.Constant(float(text))
        return node
