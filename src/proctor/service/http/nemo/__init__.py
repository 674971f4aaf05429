"""NeMo-Skills' HTTP API, as its local sandbox answers it."""
