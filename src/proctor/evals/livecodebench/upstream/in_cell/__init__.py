"""Programs that run in cells; the host reads their text and never imports them."""
