"""Routes of Judge0's API that tell about the server: languages, limits, versions, counts."""

import os
import platform
from dataclasses import asdict
from typing import Any

from litestar import MediaType, Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from proctor.limits import Limits
from proctor.service.http.judge0.languages import Judge0Language
from proctor.service.http.judge0.schema import DESCRIPTIONS
from proctor.service.http.judge0.service import Judge0Service
from proctor.service.http.request import owner_of
from proctor.service.http.responses import JsonReply, ReplyError
from proctor.version import __version__

_SERVED = {
    "maintenance_mode": False,
    "enable_wait_result": True,
    "enable_compiler_options": True,
    "allowed_languages_for_compile_options": [],  # as in Judge0: none is named, all are allowed
    "enable_command_line_arguments": True,
    "enable_submission_delete": True,
    "enable_additional_files": True,
    "enable_batched_submissions": True,
    "number_of_runs": 1,
    "redirect_stderr_to_stdout": False,
    "submission_cache_duration": 0.0,
    "use_docs_as_homepage": False,
    "enable_network": False,
    "allow_enable_network": False,
    "enable_per_process_and_thread_time_limit": False,
    "allow_enable_per_process_and_thread_time_limit": False,
    "enable_per_process_and_thread_memory_limit": False,
    "allow_enable_per_process_and_thread_memory_limit": False,
}
"""Features and their defaults, as /config_info lists them."""
_LICENSE = "Apache License 2.0: https://www.apache.org/licenses/LICENSE-2.0\n"


def info_routes(service: Judge0Service) -> list[HTTPRouteHandler]:
    """Return the routes that tell about one edition."""
    return [*_languages(service), *_server(service), *_versions(service)]


def _languages(service: Judge0Service) -> list[HTTPRouteHandler]:
    @get(service.paths("/languages"))
    async def languages() -> list[dict[str, Any]]:
        """Languages that this machine can run, by Judge0's numbers."""
        return [{"id": each.id, "name": each.name} for each in (await service.languages()).values()]

    @get(service.paths("/languages/all"))
    async def all_languages() -> list[dict[str, Any]]:
        """Languages that this machine can run, and archived ones, by name."""
        found = {each.id: each.name for each in (await service.languages()).values()}
        named = {**found, **service.edition.archived}
        return [
            {"id": number, "name": named[number], "is_archived": number not in found}
            for number in sorted(named, key=lambda each: (named[each], each))
        ]

    @get(service.paths("/languages/{number:int}"))
    async def language(number: int) -> dict[str, Any]:
        """One language, by Judge0's number."""
        if (found := (await service.languages()).get(number)) is not None:
            return _about(found)
        if (name := service.edition.archived.get(number)) is not None:
            return {**_about(Judge0Language(number, name, "", "")), "is_archived": True}
        error = {"error": f"language with id {number} doesn't exist"}
        raise ReplyError(JsonReply(error, 404))

    @get(service.paths("/statuses"))
    async def statuses() -> list[dict[str, Any]]:
        """Statuses that a submission may have."""
        return [{"id": int(each), "description": text} for each, text in DESCRIPTIONS.items()]

    return [languages, all_languages, language, statuses]


def _about(language: Judge0Language) -> dict[str, Any]:
    return {
        "id": language.id, "name": language.name, "is_archived": False,
        "source_file": language.source_file or None, "compile_cmd": language.compile_command,
        "run_cmd": language.run_command,
    }  # fmt: skip


def _server(service: Judge0Service) -> list[HTTPRouteHandler]:
    @get(service.paths("/system_info"))
    async def system_info() -> dict[str, str]:
        """Facts of the machine that a client needs for planning, and no others."""
        return {"Architecture": platform.machine(), "CPU(s)": str(os.cpu_count() or 1)}

    @get(service.paths("/config_info"))
    async def config_info() -> dict[str, Any]:
        """Limits, and features that are served."""
        told = asdict(service.settings)
        told["enable_callbacks"] = bool(told.pop("callback_hosts"))
        limits = {
            "cpu_extra_time": 0.0,
            "wall_time_limit": Limits(service.settings.cpu_time_limit).idle_allowance,
            "max_queue_size": service.engine.admission.most,
        }
        return {**told, **_SERVED, **limits}

    @get(service.paths("/workers"))
    async def workers() -> list[dict[str, Any]]:
        """Load of the server."""
        admission = service.engine.admission
        return [
            {
                "queue": "default", "size": admission.waiting, "available": admission.places,
                "idle": admission.places - admission.running, "working": admission.running,
                "paused": 0, "failed": 0,
            }
        ]  # fmt: skip

    @get(service.paths("/statistics"))
    async def statistics(request: Request[Any, Any, Any]) -> dict[str, Any]:
        """Numbers of the caller's submissions since the server started."""
        return service.counts.told(owner_of(request), await service.languages())

    return [system_info, config_info, workers, statistics]


def _versions(service: Judge0Service) -> list[HTTPRouteHandler]:
    version = service.edition.version

    @get(service.paths("/about"))
    async def about() -> dict[str, str | None]:
        """Version of the API, and who serves it."""
        return {
            "version": version, "homepage": None, "source_code": None,
            "maintainer": f"proctor {__version__}",
        }  # fmt: skip

    @get(service.paths("/version"), media_type=MediaType.TEXT)
    async def api_version() -> str:
        """Version of the API."""
        return version

    @get(service.paths("/license"), media_type=MediaType.TEXT)
    async def license_text() -> str:
        """Licence of proctor."""
        return _LICENSE

    @get(service.paths("/isolate"), media_type=MediaType.TEXT)
    async def isolate() -> str:
        """Name of the sandbox."""
        return f"proctor {__version__}\n"

    # Requests without an accepted token have been refused before they come here.
    @post(service.paths("/authenticate", "/authorize"), status_code=200)
    async def authenticate() -> Response[None]:
        """Answer 200 to an accepted token; its owner may list and delete submissions."""
        return Response(None)

    return [about, api_version, license_text, isolate, authenticate]
