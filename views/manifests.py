"""The manifest of every page, in the order of the navigation."""

from importlib import import_module
from types import MappingProxyType

from views import PAGES
from views.manifest import Manifest


def _manifest(noun: str) -> Manifest:
    """Return what `views/pages/<noun>/manifest.py` says.

    Raises:
        TypeError: it says nothing.
    """
    found: object = getattr(import_module(f"views.pages.{noun}.manifest"), "MANIFEST", None)
    if not isinstance(found, Manifest):
        raise TypeError(f"views/pages/{noun}/manifest.py has no MANIFEST")
    return found


MANIFESTS = MappingProxyType({noun: _manifest(noun) for noun in PAGES})
