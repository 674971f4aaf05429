"""Where contests are judged."""

from contests import cache_directory, contest_pool

__all__ = ["cache_directory", "contest_pool"]
