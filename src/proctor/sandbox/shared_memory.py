"""A look at programs for whether they may need a /dev/shm, which costs a job two mounts."""

_WORDS = (
    b"multiprocess", b"ProcessPool", b"joblib", b"n_jobs", b"num_workers",
    b"shm_open", b"sem_open", b"posix_ipc",
)  # fmt: skip
"""Parts of the names by which programs in Python get semaphores and memory that processes share."""


def may_need_shm(source: bytes) -> bool:
    """Return whether a program names anything that takes a /dev/shm. It may, and not use it."""
    return any(word in source for word in _WORDS)
