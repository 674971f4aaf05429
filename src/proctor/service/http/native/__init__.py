"""Proctor's own API, /v1: its requests and answers over HTTP, in the daemon and in clients."""
