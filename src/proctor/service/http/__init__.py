"""The HTTP server: the native API, and those of other projects, a package for each."""
