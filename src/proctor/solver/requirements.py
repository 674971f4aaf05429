"""Packages that a profile's programs import, as pip names them, for building an image."""

from importlib.metadata import PackageNotFoundError, requires

from proctor.errors import PlatformError
from proctor.solver.profile import Profile

_OWN = "proctor["


def requirements(profile: Profile) -> tuple[str, ...]:
    """Return the packages that the profile's `install` names, directly or by an extra of proctor.

    The image has proctor's own code already. Raises PlatformError if extras are not known here, as
    in the one-file binary.
    """
    if not profile.install.startswith(_OWN):
        return tuple(profile.install.split())
    extra = profile.install.removeprefix(_OWN).rstrip("]")
    try:
        known = requires("proctor") or []
    except PackageNotFoundError as error:
        raise PlatformError(
            f"this proctor does not know what {profile.install} brings: name packages by --install"
        ) from error
    found = (each.partition(";") for each in known)
    return tuple(name.strip() for name, _, marker in found if f'extra == "{extra}"' in marker)
