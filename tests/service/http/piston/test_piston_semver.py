"""npm's ranges, as far as they are used with Piston."""

import pytest

from proctor.service.http.piston.semver import satisfies, version_in, written


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
        ("v20.20.2", "20.20.2"),
        ("This is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64", "5.36.0"),
        ("GNU bash, version 5.2.15(1)-release", "5.2.15"),
        ("javac 21", "21.0.0"),
        ("mono 6.8.0.105", "6.8.0"),
        ("", "0.0.0"),
    ],
)
def test_the_version_in_what_a_tool_says(line: str, version: str) -> None:
    assert written(version_in(line)) == version


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        ("*", "3.11.2 0.0.0", ""),
        ("3.11.2", "3.11.2", "3.11.3 3.11.1"),
        ("=3.11", "3.11.0 3.11.9", "3.12.0 3.10.9"),
        ("3.x", "3.0.0 3.99.0", "4.0.0 2.7.18"),
        ("3", "3.0.0 3.99.0", "4.0.0 2.7.18"),
        ("^3.2.1", "3.2.1 3.9.0", "3.2.0 4.0.0"),
        ("^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("~3.2", "3.2.0 3.2.9", "3.3.0"),
        ("~3.2.5", "3.2.5 3.2.9", "3.2.4 3.3.0"),
        (">=3.10 <4", "3.10.0 3.99.0", "3.9.9 4.0.0"),
        (">3.10", "3.11.0", "3.10.7"),
        ("> 3.10.1", "3.10.2", "3.10.1"),
        ("<=3.10", "3.10.7", "3.11.0"),
        ("1.2 - 2.3", "1.2.0 2.3.9", "1.1.9 2.4.0"),
        ("2.7 || ^3.10", "2.7.18 3.11.0", "3.9.0"),
        ("nonsense", "", "1.0.0"),
        ("3.11.2junk", "", "3.11.2"),
    ],
)
def test_ranges(wanted: str, inside: str, outside: str) -> None:
    for each in inside.split():
        assert satisfies(version_in(each), wanted), each
    for each in outside.split():
        assert not satisfies(version_in(each), wanted), each
