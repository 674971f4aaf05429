"""Proctor's own API, /v1: what it is asked and answers, over HTTP, by the daemon and by clients."""
