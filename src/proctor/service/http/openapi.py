"""The OpenAPI document: components are named after what they describe, without the ending Json."""

import re
from typing import Any

from litestar import Request
from litestar.openapi.plugins import JsonRenderPlugin

_ENDING = "Json"


class OpenApiDocument(JsonRenderPlugin):
    """Renders the document; LimitsJson becomes the component Limits, if no other has that name."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the document as JSON."""
        names = openapi_schema["components"]["schemas"].keys()
        renamed = [each for each in names if each.endswith(_ENDING)]
        renamed = [each for each in renamed if each.removesuffix(_ENDING) not in names]
        quoted = '(?<=["/])(' + "|".join(each.removesuffix(_ENDING) for each in renamed) + ')Json"'
        return re.sub(quoted.encode(), rb'\1"', super().render(request, openapi_schema))
