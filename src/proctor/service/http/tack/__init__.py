"""The doors of Tack's execution host: what its clients ask, over HTTP and by line."""
