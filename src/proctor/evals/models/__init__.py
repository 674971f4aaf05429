"""Where replies come from: servers, recordings, scripts."""
