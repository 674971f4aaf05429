"""Clusters of several nodes on this machine."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import needs

# Not "ray", for which the folder of these tests is found where it is not installed.
pytest.importorskip("ray.cluster_utils", reason=needs.package("ray"))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray's own
    import ray
    from ray import serve
    from ray.cluster_utils import Cluster

__all__ = ["Cluster", "add_node", "ray", "serve", "started"]
STORE = 100 << 20
"""Bytes of each node's object store."""


def add_node(cluster: Cluster, cpus: int = 1, **variables: str) -> Any:
    """A further node, with these environment variables."""
    return cluster.add_node(num_cpus=cpus, object_store_memory=STORE, env_vars=variables)


@contextmanager
def started(*cpus: int) -> Iterator[Cluster]:
    """A head that judges nothing, and a node for each number of CPUs."""
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for each in cpus:
            add_node(cluster, each)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
