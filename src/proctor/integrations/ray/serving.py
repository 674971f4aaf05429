"""The HTTP doors behind Ray Serve: replicas that come and go with the length of the queue.

    serve run proctor.integrations.ray:app cpus=2 max_replicas=8 token_file=/etc/proctor/tokens

A replica is a whole server with cells of its own, and Ray sends each request to any of them. So
where there may be several, requests that a server would have to remember are refused: jobs that are
fetched later, and sessions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import msgspec
from ray import serve

from proctor.errors import SettingsError
from proctor.formats.tables import without_extra
from proctor.json_values import convert_json
from proctor.service.http.problem_details import TYPE, ProblemDetails

try:
    from proctor.service.http.app import make_app
    from proctor.service.http.middleware import Middleware
    from proctor.service.http.settings import ServeSettings, Tokens, read_tokens
except ImportError as error:
    raise without_extra("proctor behind Ray Serve", error, "serve") from error

QUEUED = 2
"""Requests under way for each cell of a replica, on average, above which another is started."""
_AHEAD = 8
"""Requests for each cell that a replica has at most; the others wait with Ray."""
_REMEMBERED = re.compile(r"/(?:jobs|sessions|mcp)(?:/|$)|/submissions/.")
_WHY = "several replicas may answer here, and none knows of the others' jobs and sessions"
_NAMED_SESSION = b"x-session-id"
"""Header of the NeMo-Skills API."""


class ReplicaSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `app`; numbers may be text, as from a command line."""

    cpus: int = 1
    """CPUs, and cells, of each replica."""
    min_replicas: int = 1
    max_replicas: int = 8
    token_file: str | None = None
    """File of tokens on the nodes; without it only requests to a local address are answered."""
    isolation: str | None = None
    min_isolation: str | None = None
    packages: tuple[str, ...] = ()
    """Directories on the nodes that programs may import from."""
    preload: tuple[str, ...] = ()

    def server(self) -> ServeSettings:
        """Return the settings of one replica. Raises SettingsError, InputError."""
        return ServeSettings(
            tokens=Tokens() if self.token_file is None else read_tokens(self.token_file),
            cells=self.cpus,
            sessions=16 if self.max_replicas == 1 else 0,
            isolation=self.isolation,
            min_isolation=self.min_isolation,
            packages=self.packages,
            preload=self.preload,
        )


def app(args: Mapping[str, Any]) -> Any:
    """Return the application for `serve run` or `serve deploy`; `args` as in ReplicaSettings.

    Raises SettingsError.
    """
    try:
        wanted = convert_json(dict(args), ReplicaSettings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"arguments of proctor's Ray Serve application: {error}") from error
    if not 1 <= wanted.min_replicas <= wanted.max_replicas or wanted.cpus < 1:
        raise SettingsError("cpus and replicas are at least 1, min_replicas at most max_replicas")

    def build() -> Any:
        served = make_app(wanted.server())
        return served if wanted.max_replicas == 1 else Forgetful(served)

    deployment: Any = serve.deployment(
        serve.ingress(build)(),
        name="proctor",
        ray_actor_options={"num_cpus": wanted.cpus},
        max_ongoing_requests=_AHEAD * wanted.cpus,
        autoscaling_config={
            "min_replicas": wanted.min_replicas,
            "max_replicas": wanted.max_replicas,
            "target_ongoing_requests": QUEUED * wanted.cpus,
        },
    )
    return deployment.bind()


@dataclass(frozen=True, slots=True)
class Forgetful:
    """A server, perhaps one of several, that refuses requests which one would have to remember."""

    served: Middleware

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        kind = str(scope["type"])
        if kind == "lifespan" or not _needs_memory(scope):
            await self.served(scope, receive, send)
        elif kind == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": _WHY})
        else:
            await _refuse(send)


def _needs_memory(scope: Any) -> bool:
    path, query = scope["path"], parse_qs(scope["query_string"].decode("latin-1"))
    wait = query.get("wait", [""])[-1].lower()
    if path.rstrip("/").endswith("/submissions") and wait != "true":
        return True
    named = any(name == _NAMED_SESSION for name, _ in scope["headers"])
    return named or wait in {"false", "0"} or _REMEMBERED.search(path) is not None


async def _refuse(send: Any) -> None:
    detail = f"{_WHY}: wait for the answer, or deploy with max_replicas=1"
    problem = ProblemDetails(501, "not-here", _WHY, detail)
    body = msgspec.json.encode(problem)
    headers = [(b"content-type", TYPE.encode()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 501, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
