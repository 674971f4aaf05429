"""`proctor daemon`: the native API as lines of JSON on stdin and stdout."""
