"""Units that run `proctor serve` as a service of systemd's: the system's, or a user's own."""

import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.errors import UsageError

KINDS = ("system", "user")

_SYSTEM = """\
# proctor's server as a service of the system, written by `proctor serve --systemd system`.
#   save it as /etc/systemd/system/proctor.service, then:
#   systemctl daemon-reload && systemctl enable --now proctor && journalctl -u proctor -f
[Unit]
Description=proctor: runs and judges programs over HTTP
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart={command}
{credential}Restart=on-failure
RestartSec=2
TimeoutStopSec=40
# The server ends its own programs, in order; what is left after that is killed.
KillMode=mixed

DynamicUser=yes
CacheDirectory=proctor
Environment=HOME=%C/proctor XDG_CACHE_HOME=%C/proctor
# Cells get control groups of their own below the service's.
Delegate=yes
LimitNOFILE=65536
TasksMax=8192

# All hardening that does not keep cells from being made: they need user, PID, mount, network and
# IPC namespaces, a /proc without anything mounted over it, and system calls that few services need.
NoNewPrivileges=yes
CapabilityBoundingSet=
PrivateTmp=yes
PrivateDevices=no
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=no
LockPersonality=yes
UMask=0077

[Install]
WantedBy=multi-user.target
"""
_USER = """\
# proctor's server as a service of yours, written by `proctor serve --systemd user`.
#   save it as ~/.config/systemd/user/proctor.service, then:
#   systemctl --user daemon-reload && systemctl --user enable --now proctor
#   loginctl enable-linger keeps it running when you have logged out.
[Unit]
Description=proctor: runs and judges programs over HTTP

[Service]
Type=exec
ExecStart={command}
Restart=on-failure
RestartSec=2
TimeoutStopSec=40
# The server ends its own programs, in order; what is left after that is killed.
KillMode=mixed
# Cells get control groups of their own below the service's.
Delegate=yes
LimitNOFILE=65536
TasksMax=8192
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""
_HIDDEN = ("/root", "/home", "/run/user")
"""Directories that ProtectHome= hides from a service of the system."""


def unit(kind: str, options: Sequence[tuple[str, str]], command: Sequence[str] = ()) -> str:
    """Return a unit of this kind for `proctor serve` with these options, as (--name, value).

    An empty value stands for a flag. `command` is the start of the command line, by default this
    installation's. A file of tokens reaches a service of the system as a credential, since its user
    can read no file of root's. Raises UsageError.
    """
    if kind not in KINDS:
        raise UsageError(f"--systemd is {' or '.join(KINDS)}, not {kind!r}")
    words = [*(command or _installed(kind)), "serve"]
    credential = ""
    for name, value in options:
        words.append(name)
        if name == "--token-file" and kind == "system":
            credential = f"LoadCredential=tokens:{_escaped(value)}\n"
            words.append("%d/tokens")
        elif value:
            words.append(_quoted(value))
    template = _SYSTEM if kind == "system" else _USER
    return template.format(command=" ".join(words), credential=credential)


def _installed(kind: str) -> list[str]:
    """Return the command of this installation, where the service can reach it."""
    python = Path(sys.executable).absolute()  # links are kept: a virtual environment's is a link
    if kind == "system":
        for place in (python, Path(sys.base_prefix)):
            if any(place.is_relative_to(each) for each in _HIDDEN):
                raise UsageError(
                    f"a service of the system cannot reach {place}: install proctor elsewhere, such"
                    " as in a virtual environment /opt/proctor of the system's Python, or take"
                    " --systemd user"
                )
    script = python.with_name("proctor")
    if script.exists():
        return [_quoted(str(script))]
    return [_quoted(str(python)), "-P", "-m", "proctor"]


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """Return a word as ExecStart= takes it, without expansion (systemd.service(5))."""
    word = _escaped(word).replace("$", "$$")
    if not set(word) & set(" \t\n\"'\\;"):
        return word
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{word}"'
