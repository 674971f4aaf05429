"""The libraries that a plain run of a language has, a program in a cell has, too.

Programs of MultiPL-E and its like were RE for the want of an extension that every `php` has.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.judging.environment import open_environment
from proctor.languages.run import run
from proctor.limits import GIB, Limits
from proctor.program import Program
from proctor.sandbox.pool import Pool

pytestmark = pytest.mark.user

PROBES = {
    "php": (
        ("php",),
        "<?php\n$all = get_loaded_extensions(); sort($all); echo implode(' ', $all);\n"
        "echo iconv('UTF-8', 'ASCII//TRANSLIT', 'é'), count(token_get_all('<?php 1;')), ctype_upper('A');\n",
    ),
    "javascript": (
        ("node",),
        "const names = require('module').builtinModules.filter(name => !name.startsWith('_'));\n"
        "for (const name of names) require(name);\n"
        "console.log(names.sort().join(' '), Object.keys(globalThis).sort().join(' '));\n"
        "console.log(new Intl.NumberFormat('de').format(1234.5), 'é'.normalize('NFD').length);\n",
    ),
    "perl": (
        ("perl",),
        "use List::Util qw(sum max reduce); use POSIX qw(floor); use Data::Dumper; use JSON::PP;\n"
        "use Math::BigInt; use Math::Trig; use Time::Local; use Storable qw(dclone); use Encode;\n"
        "use Test::More; use Text::Wrap; use Tie::File; use Digest::MD5 qw(md5_hex);\n"
        "print sum(1, 2), floor(2.5), encode_json([1]), Math::BigInt->new(2)->bpow(70), md5_hex('a');\n",
    ),
    "ruby": (
        ("ruby",),
        "%w[set json digest bigdecimal date time matrix prime stringio securerandom ostruct erb yaml\n"
        "   optparse tempfile benchmark timeout].each { |name| begin; require name; puts name;\n"
        "   rescue LoadError; puts 'no ' + name; end }\n",
    ),
    "lua": (
        ("lua5.4",),
        "local names = {}\nfor name in pairs(package.loaded) do names[#names + 1] = name end\n"
        "table.sort(names) print(table.concat(names, ' '), _VERSION, (pcall(require, 'luaunit')))\n",
    ),
    "r": (
        ("Rscript",),
        'cat(sort(rownames(installed.packages(priority = "high"))), fill = FALSE)\n'
        "cat(crossprod(matrix(1:4, 2)), format(as.Date('2026-01-02'), '%B'))\n",
    ),
    "python": (
        ("python3", "-I"),
        "import importlib, sys\n"
        "names = 'bz2 ctypes curses dbm decimal hashlib lzma multiprocessing readline sqlite3 ssl zlib zoneinfo'\n"
        "for name in names.split(): importlib.import_module(name)\n"
        "print(sorted(sys.builtin_module_names) != [], len(sys.stdlib_module_names) > 200)\n",
    ),
    "bash": (
        ("bash",),
        "for tool in awk sed grep sort uniq tr cut paste seq expr head tail wc tee xargs find bc dc date\n"
        "do command -v $tool > /dev/null && echo $tool; done; echo ${BASH_VERSINFO[0]}; printf '%(%Y)T' 0\n",
    ),
}


@pytest.fixture(scope="module")
def readable_pool() -> Iterator[Pool]:
    """Cells that see what languages say they read."""
    with open_environment() as opened:
        yield opened


@pytest.mark.parametrize("language", PROBES)
def test_it_finds_what_a_plain_run_finds(
    language: str, readable_pool: Pool, tmp_path: Path
) -> None:
    command, source = PROBES[language]
    file = tmp_path / "probe"
    file.write_text(source)
    execution = run(Program(source, language), limits=Limits(memory=2 * GIB), pool=readable_pool)
    assert execution.exit_code == 0, execution.stderr.decode()
    assert shutil.which(command[0]), "a cell has run it"
    plain = subprocess.run([*command, file], capture_output=True, check=True)
    assert execution.stdout.decode() == plain.stdout.decode()
