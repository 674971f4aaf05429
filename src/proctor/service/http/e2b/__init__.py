"""E2B's API, for the clients of its sandboxes: the contract is that of its Python SDK 2."""
