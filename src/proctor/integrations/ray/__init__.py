"""proctor on Ray: judging and rewards on all nodes, and its server behind Ray Serve."""

from typing import TYPE_CHECKING, Any

from proctor.formats.tables import without_extra

try:
    from proctor.integrations.ray.cluster import NodeState as NodeState
    from proctor.integrations.ray.cluster import RayCluster as RayCluster
    from proctor.integrations.ray.rewards import RewardActors as RewardActors
    from proctor.integrations.ray.rewards import SharedRewardActors as SharedRewardActors
except ImportError as error:
    raise without_extra("a Ray cluster", error, "ray") from error

if TYPE_CHECKING:
    from proctor.integrations.ray.serving import app as app


def __getattr__(name: str) -> Any:
    if name == "app":  # its imports take a second, and need another extra
        from proctor.integrations.ray.serving import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
