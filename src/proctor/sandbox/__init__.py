"""The host's side of the cells."""

import sys

from proctor.errors import UnsupportedPlatform

if sys.platform != "linux":
    raise UnsupportedPlatform(
        "proctor runs programs on Linux only (x86-64 or aarch64): on macOS and Windows use a Linux"
        " virtual machine or container"
    )
