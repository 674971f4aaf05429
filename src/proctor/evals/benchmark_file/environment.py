"""The jinja2 that a benchmark file is written in: plain data in reach, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

import jinja2
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Namespace

from proctor.evals.benchmark_file.evaluation import RunValues
from proctor.evals.benchmark_file.functions import FUNCTIONS

_FORMATS = frozenset({"format", "format_map"})


class PlainEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2 without its ways from a value to the modules behind it.

    A text's `format` reads any attribute, and what forbids that has had holes: so there is no
    `format`, no filter `attr`, and a name such as `json` stands for an object without attributes,
    which can only be called.
    """

    def __init__(
        self, included: Mapping[str, str], after_call: Callable[[], None] = lambda: None
    ) -> None:
        """Make it; `included` has texts of files by name, the only ones it can include.

        `after_call` is called after each call of one of FUNCTIONS.
        """
        super().__init__(
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=self._shown,
            keep_trailing_newline=True,  # for texts that are included
            loader=jinja2.DictLoader(included),
        )
        del self.filters["attr"]
        functions: dict[str, Callable[..., Any]] = {
            **FUNCTIONS,
            "range": safe_range,
            "dict": dict,
            "namespace": Namespace,
        }
        self._after_call = after_call
        self.globals = {name: object() for name in functions}
        self._functions = {id(self.globals[name]): function for name, function in functions.items()}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute. Raises SecurityError for private ones and `format`, when used."""
        if isinstance(obj, str) and attribute in _FORMATS:
            return self.unsafe_undefined(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item, or else an attribute. Raises SecurityError as getattr() does."""
        if isinstance(obj, str) and isinstance(argument, str) and argument in _FORMATS:
            return self.unsafe_undefined(obj, argument)
        return super().getitem(obj, argument)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls. Raises SecurityError, and what the callee raises."""
        function = self._functions.get(id(obj))
        if function is not None:
            found = function(*args, **kwargs)
            self._after_call()
            return found
        return super().call(context, obj, *args, **kwargs)

    def _shown(self, value: Any) -> Any:
        """Return a value that a template may show. Raises TemplateRuntimeError for any other."""
        if isinstance(value, jinja2.Undefined):
            return value  # rendering it raises an error of its own
        if value is None:
            raise jinja2.TemplateRuntimeError(
                "a value is null; write |default('', true) where that is meant"
            )
        if callable(value) or id(value) in self._functions or isinstance(value, RunValues):
            raise jinja2.TemplateRuntimeError(
                "a function, or `run`, is not text; a column is row['NAME']"
            )
        return value
