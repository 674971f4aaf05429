"""Languages of this machine under the names that Piston's packages have for them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.languages import registry
from proctor.languages.language import InstalledLanguage
from proctor.languages.run import PYTHON
from proctor.languages.scripts import Scripts
from proctor.sandbox.machine.interpreter import Interpreter
from proctor.service.http.piston.semver import Version, satisfies, version_in, written


class RuntimeKind(StrEnum):
    """Way in which a runtime's jobs are run or judged."""

    PLAIN = "plain"
    """A run: compile, execute, report."""
    CMS_IOI = "cms_ioi"
    CODEFORCES = "codeforces"
    PACKAGE = "package"
    """A run by the scripts of a package: see packages.py."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """One language, as /runtimes lists it."""

    language: str
    version: Version
    aliases: tuple[str, ...]
    language_id: str
    """Id of proctor's language that programs are in."""
    kind: RuntimeKind = RuntimeKind.PLAIN
    scripts: Scripts | None = None
    """Scripts of a package."""
    limit_overrides: Mapping[str, int] = field(default_factory=dict)
    """Limits of a package that differ from the server's, by the names of settings.py."""

    of_package: str = ""
    """Name of the package that brings it, if that is another than the language's."""

    @property
    def package(self) -> str:
        """Name of the package that brings it."""
        return self.of_package or self.language

    @property
    def shown(self) -> str:
        """The version as text."""
        return written(self.version)

    def is_called(self, name: str) -> bool:
        """Return True if a request for this name may mean this runtime."""
        return name == self.language or name in self.aliases


GRADED = (1, 0, 0)
"""Version of the packages that bring their own grading."""
_NAMES = {"cpp17": "c++", "cpp11": "c++11", "cpp14": "c++14", "cpp20": "c++20", "cpp23": "c++23"}
_FURTHER = {
    PYTHON: ("py3",),
    "javascript": ("node-javascript", "node-js"),
    "typescript": ("node-ts", "tsc"),
    "csharp": ("mono-csharp",),
    "pascal": ("freepascal", "pp"),
    "ruby": ("ruby3",),
    "php": ("php8",),
}
"""Further names of Piston's packages, by the id of proctor's language."""
_CODEFORCES = {
    "c++": "cpp17", "c++0x": "cpp11", "c++11": "cpp11", "c++14": "cpp14", "c++17": "cpp17",
    "c++20": "cpp20", "python3": "python", "java": "java", "kotlin": "kotlin",
}  # fmt: skip
_GRADING_FILE = "grader_config"


def runtimes(
    interpreter: Interpreter, found: Sequence[InstalledLanguage], *, contests: bool
) -> list[Runtime]:
    """Return the runtimes: languages `found` by the engine, Python of the cells' `interpreter`."""
    here = {each.language.id for each in found}
    listed = [_python(interpreter)]
    for each in found:
        language = each.language
        if language.id != PYTHON:
            name = _NAMES.get(language.id, language.id)
            listed.append(Runtime(name, version_in(each.version), _aliases(name, language.id),
                                  language.id))  # fmt: skip
    if "cpp17" in here and contests:
        listed.append(Runtime("cms_ioi", GRADED, (), "cpp17", RuntimeKind.CMS_IOI))
    for name, language_id in _CODEFORCES.items() if contests else ():
        if language_id in here:
            listed.append(
                Runtime(
                    name,
                    GRADED,
                    (f"cf_{name}",),
                    language_id,
                    RuntimeKind.CODEFORCES,
                    of_package="codeforces",
                )
            )
    return listed


def _python(interpreter: Interpreter) -> Runtime:
    return Runtime(PYTHON, version_in(interpreter.version), _aliases(PYTHON, PYTHON), PYTHON)


def _aliases(name: str, language_id: str) -> tuple[str, ...]:
    names = [*registry.get(language_id).names, *_FURTHER.get(language_id, ())]
    return tuple(each for each in names if each != name)


def choose(
    known: Sequence[Runtime], language: str, version: str, files: Collection[str]
) -> Runtime | None:
    """Return the newest runtime of this name with a version in the range; None if there is none.

    Names that both a compiler and the package codeforces have mean the package if the request
    brings the package's grader_config, and else the compiler.
    """
    fitting = [each for each in known if each.is_called(language)]
    fitting = [each for each in fitting if satisfies(each.version, version)]
    graded = _GRADING_FILE in files
    return max(
        fitting,
        key=lambda each: ((each.kind is RuntimeKind.CODEFORCES) is graded, each.version),
        default=None,
    )
