"""All kinds of constraints that can be modelled; importing this module registers them."""

from . import (
    kinds_assignments,
    kinds_classes,
    kinds_relations,
    kinds_rooms,
    kinds_subjects,
    kinds_teachers,
)
from .registry import KINDS

__all__ = [
    "KINDS",
    "kinds_assignments",
    "kinds_classes",
    "kinds_relations",
    "kinds_rooms",
    "kinds_subjects",
    "kinds_teachers",
]
