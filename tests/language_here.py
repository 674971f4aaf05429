"""Languages that a test needs, by their ids."""

import pytest

from proctor.errors import NoLanguage
from proctor.languages import registry


def need(language: str) -> None:
    """Skip the test, saying what to install, where this machine lacks the language."""
    try:
        registry.find(registry.get(language))
    except NoLanguage as missing:
        pytest.skip(str(missing))
