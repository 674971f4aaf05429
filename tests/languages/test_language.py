"""Reading definitions: what is wrong with one is said with its file and field."""

import pytest

from proctor.errors import InputError
from proctor.languages.language import expand, read

WHOLE = """
id = "mine"
name = "Mine"
family = "mine"
extensions = [".mine"]
source = "main.mine"
install = "build it"

[tools.compiler]
names = ["minec"]

[compile]
command = ["{compiler}", "-o", "program", "{flags}", "{sources}"]
outputs = ["program"]

[run]
executable = "program"
command = ["program"]

[selftest]
source = "add"
input = "20 22"
output = "42"
"""


def test_a_whole_one() -> None:
    language = read(WHOLE, "mine.toml")
    assert language.names == ("mine",)
    assert language.compile is not None
    assert language.compile.cpu == 30.0
    assert language.tools["compiler"].version == ("--version",)
    assert language.default


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "mine"', "id = 1", "$.id"),
        ('id = "mine"', 'id = "mine"\ncolour = "red"', "colour"),
        ('id = "mine"', 'id = "mine"\naliases = ["My Language"]', "field `aliases`"),
        ('[".mine"]', '["mine"]', "field `extensions`: 'mine' does not begin with a dot"),
        ('[".mine"]', "[]", "field `extensions`"),
        ('["minec"]', "[]", "field `tools.compiler.names`"),
        ('"{flags}", ', '"-I{flags}", ', "{flags} must be a word of its own"),
        ("{compiler}", "{complier}", "{complier} stands for nothing"),
        ('outputs = ["program"]', "outputs = []", "field `compile.outputs`"),
        ('command = ["program"]', "command = []", "field `run.command`"),
        ('command = ["program"]', 'command = ["program", "{sources}"]', "field `run`"),
        ('family = "mine"\n', "", "family"),
        ("[selftest]", "[selftest", "mine.toml"),
        ("[selftest]", "[test]", "mine.toml"),
        ('install = "build it"', 'install = "build it"\nreads = ["etc/mine"]', "field `reads`"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, said: str) -> None:
    assert old in WHOLE
    with pytest.raises(InputError) as caught:
        read(WHOLE.replace(old, new, 1), "mine.toml")
    assert str(caught.value).startswith("mine.toml")
    assert said in str(caught.value)


def test_a_file_is_called_like_its_language() -> None:
    with pytest.raises(InputError, match=r"called mine\.toml"):
        read(WHOLE, "yours.toml")


def test_an_executable_needs_a_compile_step() -> None:
    before, _, after = WHOLE.partition("[compile]")
    with pytest.raises(InputError, match="run.executable"):
        read(before + "[run]" + after.partition("[run]")[2], "mine.toml")


def test_expanding() -> None:
    values = {"compiler": "/usr/bin/g++", "sources": ["a.cpp", "b.cpp"], "flags": [], "mb": "64"}
    words = ["{compiler}", "-Xmx{mb}m", "{flags}", "{sources}", "{}", "x{y"]
    expected = ["/usr/bin/g++", "-Xmx64m", "a.cpp", "b.cpp", "{}", "x{y"]
    assert expand(words, values) == expected
    with pytest.raises(KeyError):
        expand(["{linker}"], values)


def test_what_is_filled_in_is_not_expanded_again() -> None:
    assert expand(["{sources}", "-{a}"], {"sources": ["{a}"], "a": "{b}"}) == ["{a}", "-{b}"]
