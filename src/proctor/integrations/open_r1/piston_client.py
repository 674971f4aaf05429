"""The client of the published names: in place of Pistons, a pool of cells on this machine."""

from collections.abc import Sequence
from functools import cache
from typing import Self

from proctor.errors import InfraFault
from proctor.evals.ioi.sources import TESTS, RowTests
from proctor.judging.environment import open_environment
from proctor.sandbox.pool import Pool

# The published name of the error that says that a test could not be run.
PistonError = InfraFault


class OpenR1Client:
    """Judge in the place of the published Piston client. Use it in a `with` block.

    `tests` is the source of the tests of rows without `test_cases`; it is read at the first such
    row.
    """

    def __init__(self, pool: Pool | None = None, *, tests: str = TESTS) -> None:
        """Take over `pool`, or open one. Raises PlatformError where nothing can be run."""
        self.pool = pool or open_environment()
        self.rows = RowTests(tests)

    def close(self) -> None:
        """Close the pool, stopping what runs."""
        self.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class PistonClient(OpenR1Client):
    """Judge on this machine, made with the arguments of the published client."""

    def __init__(
        self,
        base_endpoint: str | Sequence[str] = (),  # noqa: ARG002 - as published
        session: object = None,  # noqa: ARG002 - as published
        max_requests_per_endpoint: int = 1,  # noqa: ARG002 - as published
        *,
        tests: str = TESTS,
    ) -> None:
        """Open a pool with a cell per CPU. No endpoint is asked, and no session is used.

        To let Pistons run the tests, use `proctor ioi score --runner piston:`.
        """
        super().__init__(tests=tests)


@cache
def get_piston_client_from_env(session: object = None) -> PistonClient:  # noqa: ARG001 as published
    """Return the process's one client. No Piston is asked, and no variable is needed."""
    return PistonClient()
