"""What there is: /languages, /statuses, /system_info, /config_info, /about, /workers."""

import os
import platform
from dataclasses import asdict
from typing import Any

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from proctor.service.http.judge0.desk import Desk
from proctor.service.http.judge0.result import DESCRIPTIONS
from proctor.service.http.judge0.submissions import paths
from proctor.version import __version__

_SERVED = {
    "maintenance_mode": False,
    "enable_wait_result": True,
    "enable_compiler_options": True,
    "enable_command_line_arguments": True,
    "enable_submission_delete": True,
    "enable_additional_files": True,
    "enable_batched_submissions": True,
    "number_of_runs": 1,
    "redirect_stderr_to_stdout": False,
    "enable_network": False,
    "allow_enable_network": False,
    "enable_per_process_and_thread_time_limit": False,
    "allow_enable_per_process_and_thread_time_limit": False,
    "enable_per_process_and_thread_memory_limit": False,
    "allow_enable_per_process_and_thread_memory_limit": False,
}


def routes(desk: Desk) -> list[HTTPRouteHandler]:
    """Return the routes."""
    return [*_languages(desk), *_server(desk)]


def _languages(desk: Desk) -> list[HTTPRouteHandler]:
    @get(paths("/languages", "/languages/all"))
    async def languages() -> list[dict[str, Any]]:
        """Languages that this machine can run, by Judge0's numbers."""
        return [{"id": each.id, "name": each.name} for each in (await desk.languages()).values()]

    @get(paths("/languages/{number:int}"))
    async def language(number: int) -> Response[dict[str, Any]]:
        """One of them."""
        found = (await desk.languages()).get(number)
        if found is None:
            text = f"language with id {number} doesn't exist"
            return Response({"error": text}, status_code=404)
        about = {
            "id": found.id, "name": found.name, "is_archived": False,
            "source_file": found.source_file, "compile_cmd": None, "run_cmd": None,
        }  # fmt: skip
        return Response(about)

    @get(paths("/statuses"))
    async def statuses() -> list[dict[str, Any]]:
        """What may become of a submission."""
        return [{"id": int(each), "description": text} for each, text in DESCRIPTIONS.items()]

    return [languages, language, statuses]


def _server(desk: Desk) -> list[HTTPRouteHandler]:
    @get(paths("/system_info"))
    async def system_info() -> dict[str, str]:
        """Of the machine what a client may plan by, and no more."""
        return {"Architecture": platform.machine(), "CPU(s)": str(os.cpu_count() or 1)}

    @get(paths("/config_info"))
    async def config_info() -> dict[str, Any]:
        """Limits, and what is served."""
        most_waiting = desk.engine.admission.most
        told = asdict(desk.settings)
        told["enable_callbacks"] = bool(told.pop("callback_hosts"))
        return {**told, **_SERVED, "max_queue_size": most_waiting}

    @get(paths("/about"))
    async def about() -> dict[str, str]:
        """What answers: version of the API, and of proctor."""
        return {"version": "1.13.1", "server": f"proctor {__version__}"}

    @get(paths("/workers"))
    async def workers() -> list[dict[str, Any]]:
        """How busy it is."""
        admission = desk.engine.admission
        return [
            {
                "queue": "default", "size": admission.waiting, "available": admission.places,
                "idle": admission.places - admission.running, "working": admission.running,
                "paused": 0, "failed": 0,
            }
        ]  # fmt: skip

    return [system_info, config_info, about, workers]
