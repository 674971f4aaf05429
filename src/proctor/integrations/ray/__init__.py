"""proctor on Ray: judging and rewards on all nodes of a cluster."""

from proctor.formats.tables import without_extra

try:
    from proctor.integrations.ray.cluster import NodeState as NodeState
    from proctor.integrations.ray.cluster import RayCluster as RayCluster
    from proctor.integrations.ray.rewards import RewardActors as RewardActors
    from proctor.integrations.ray.rewards import SharedRewardActors as SharedRewardActors
except ImportError as error:
    raise without_extra("a Ray cluster", error, "ray") from error
