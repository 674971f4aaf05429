"""Who asks: what front.py has found out of a connection."""

from typing import Any

from litestar.connection import ASGIConnection

from proctor.service.engine import Asker


def owner_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return whose token it showed; "" where there are none."""
    return str(connection.scope["state"]["owner"])


def patient(connection: ASGIConnection[Any, Any, Any, Any]) -> Asker:
    """Return an asker that waits however long the line is: clients made for others give up."""
    return Asker(owner_of(connection), patient=True)
