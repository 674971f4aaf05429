"""All kinds' oracles, by name: `ORACLES[kind] = (derive, units)`."""

import oracles_of_lessons  # noqa: F401 - they register themselves
import oracles_of_people  # noqa: F401
from oracle_tools import ORACLES

__all__ = ["ORACLES"]
