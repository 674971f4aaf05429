"""Monitoring: figures for Prometheus at /metrics, and /healthz and /readyz."""

from litestar import MediaType, Response, get
from litestar.handlers import HTTPRouteHandler
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from proctor.service.engine import Engine
from proctor.version import __version__

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)


class Metrics:
    """Figures of one server; several servers in a process have separate ones."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "proctor_requests", "Requests answered.", ["status"], registry=self._registry
        )
        self._seconds = Histogram(
            "proctor_request_seconds", "From a request to the end of its answer.",
            buckets=_BUCKETS, registry=self._registry,
        )  # fmt: skip
        self._by_status: dict[int, Counter] = {}

    def request(self, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = self._requests.labels(str(status))
        counter.inc()
        self._seconds.observe(seconds)

    def watch(self, engine: Engine) -> None:
        """Add gauges that show how busy an engine is."""
        admission = engine.admission
        for name, text, read in (
            ("proctor_jobs_waiting", "Jobs that wait for a place.", lambda: admission.waiting),
            ("proctor_jobs_running", "Places that are taken.", lambda: admission.running),
            ("proctor_sessions", "Sessions that are open.", lambda: engine.sessions.taken),
            ("proctor_places", "Jobs that may run at once.", lambda: admission.places),
        ):
            Gauge(name, text, registry=self._registry).set_function(read)

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        return generate_latest(self._registry)


def routes(metrics: Metrics) -> list[HTTPRouteHandler]:
    """Return the routes for monitoring."""

    @get("/metrics", media_type=MediaType.TEXT)
    async def figures() -> Response[bytes]:
        """Figures for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @get("/healthz")
    async def healthy() -> dict[str, str]:
        """Report that the server is alive."""
        return {"status": "ok"}

    @get("/readyz")
    async def ready() -> dict[str, str]:
        """Report that the server takes work."""
        return {"status": "ok", "version": __version__}

    return [figures, healthy, ready]
