"""Settings of a server: its address, tokens, allowed hosts, and those of its engine."""

import hashlib
import ipaddress
import os
import stat
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from proctor.errors import InputError, SettingsError
from proctor.limits import MIB
from proctor.service.engine import MOST_WAITING, Engine, open_engine
from proctor.service.package_sets import PackageSet
from proctor.solver.profile import Profile

HOST, PORT = "127.0.0.1", 8377
_SHORTEST_TOKEN = 16
_TOKEN_HEADERS = (
    b"x-auth-token", b"x-api-key", b"x-access-token", b"e2b-traffic-access-token",
)  # fmt: skip
"""Headers with a token: Judge0's; E2B's for its API, and inside a sandbox."""
_KNOWN = 64
"""Number of host names whose checks are cached, since requests repeat them."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a server accepts. Without any, it accepts every request, of owner ""."""

    names: Mapping[bytes, str] = field(default_factory=dict)
    """Names of owners by the SHA-256 of their tokens, so that a look-up's time tells nothing."""

    def name(self, token: str) -> str | None:
        """Return the name of a token's owner, or None."""
        return self.names.get(hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest())

    def owner(self, headers: Mapping[bytes, bytes]) -> str | None:
        """Return the owner of a request with these headers; None without an accepted token.

        A token comes as `Authorization: Bearer T`, as the password of `Authorization: Basic`
        (http://any:T@host in clients that know no tokens), or in one of _TOKEN_HEADERS.
        """
        if not self.names:
            return ""
        shown = next((headers[name] for name in _TOKEN_HEADERS if headers.get(name)), b"")
        kind, _, value = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer":
            shown = value.strip()
        elif kind.lower() == b"basic" and not shown:
            try:
                shown = b64decode(value.strip(), validate=True).partition(b":")[2]
            except (NotBase64, ValueError):
                return None
        return self.name(shown.decode("utf-8", "surrogateescape")) if shown else None


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Settings of one server. Raises SettingsError if anybody on the network could use it."""

    host: str = HOST
    port: int = PORT
    """0: any that is free."""
    tokens: Tokens = Tokens()
    cells: int | None = None
    """Jobs at once; None: one per CPU."""
    sessions: int = 16
    """Sessions at once, of all owners."""
    most_waiting: int = MOST_WAITING
    """Jobs of one owner that may wait before clients of the native API are refused with 429."""
    most_body: int = 256 * MIB
    """Bytes of one request."""
    most_connections: int = 4096
    """Connections at once; three quarters of the descriptors of this process, if that is less."""
    allow_hosts: tuple[str, ...] = ()
    """Further host names, with a port or without, that a server without tokens answers to."""
    isolation: str | None = None
    min_isolation: str | None = None
    python: str | None = None
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    package_sets: Mapping[str, PackageSet] = field(default_factory=dict)
    """Sets of packages that requests may ask for, by name."""
    profiles: tuple[Profile, ...] = ()
    """Profiles of solvers, besides those that come with proctor."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise SettingsError(f"a port is a number from 0 to 65535, not {self.port}")
        if self.most_connections < 1:
            raise SettingsError(
                f"--max-connections must be at least 1, not {self.most_connections}"
            )
        if not is_local(self.host) and not self.tokens.names:
            raise SettingsError(
                f"anybody who reaches {self.host} could run programs: name a file of tokens with"
                " --token-file, or listen on 127.0.0.1"
            )

    def open_engine(self, directories: tuple[str, ...] = ()) -> Engine:
        """Open the server's engine. Raises as the function open_engine does."""
        engine = open_engine(
            isolation=self.isolation, min_isolation=self.min_isolation, python=self.python,
            packages=self.packages, preload=self.preload, cells=self.cells,
            most_waiting=self.most_waiting, sessions=self.sessions,
            package_sets=self.package_sets, directories=directories, profiles=self.profiles,
        )  # fmt: skip
        engine.machine = replace(engine.machine, id=f"{engine.machine.id}:{self.port}")
        return engine


@dataclass(frozen=True, slots=True)
class Hosts:
    """Host names that a server without tokens answers to.

    Any page may make a browser send requests to 127.0.0.1, and the owner of the page's name may
    make it resolve to that address afterwards (DNS rebinding). Browsers then say whose page it is
    (`Origin`), and by which name they ask (`Host`).
    """

    allowed: tuple[str, ...] = ()
    """Names besides this machine's own, with a port or without; in small letters."""

    def has(self, host: bytes | None) -> bool:
        """Return True for a `Host` header that names this machine, or an allowed host."""
        found = _split(host)
        if found is None:
            return False
        name, whole = found
        return is_local(name) or self._allows(name, whole)

    def has_page(self, origin: bytes, host: bytes | None) -> bool:
        """Return True if a page of this `Origin` may ask this `Host`: its own, or allowed."""
        scheme, _, rest = origin.partition(b"://")
        found = _split(rest)
        if found is None or scheme not in {b"http", b"https"}:
            return False
        return rest.lower() == (host or b"").lower() or self._allows(*found)

    def _allows(self, name: str, whole: str) -> bool:
        return name in self.allowed or whole in self.allowed


@lru_cache(_KNOWN)
def _split(authority: bytes | None) -> tuple[str, str] | None:
    """Return the name of a host, and the name with its port; None if it is not a host."""
    try:
        whole = (authority or b"").decode("ascii").lower()
        parts = urlsplit(f"//{whole}")
        name = parts.hostname
        parts.port  # noqa: B018 - raises ValueError for what is not a port
    except ValueError:
        return None
    return None if not name or parts.netloc != whole or "@" in whole else (name, whole)


@lru_cache(_KNOWN)
def is_local(host: str) -> bool:
    """Return True for an address that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_tokens(file: str) -> Tokens:
    """Read lines NAME:TOKEN; `#` begins a comment. Raises InputError, naming the line."""
    place = Path(file)
    try:
        text = place.read_text("utf-8")
        mode = place.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot be read: {why}", file=file, field="--token-file") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o007:
        raise InputError("others may read it: chmod 600", file=file, field="--token-file")
    names: dict[bytes, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        name, colon, token = (part.strip() for part in entry.partition(":"))
        if not colon or not name:
            raise InputError("a line is NAME:TOKEN", file=file, line=number)
        if len(token) < _SHORTEST_TOKEN:
            raise InputError(
                f"a token has at least {_SHORTEST_TOKEN} characters", file=file, line=number
            )
        digest = hashlib.sha256(token.encode()).digest()
        if digest in names:
            raise InputError("this token is there twice", file=file, line=number)
        names[digest] = name
    if not names:
        raise InputError("there is no token in it", file=file, field="--token-file")
    return Tokens(names)
