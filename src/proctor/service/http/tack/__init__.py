"""The interfaces of Tack's execution host: its clients' requests, over HTTP and by line."""
