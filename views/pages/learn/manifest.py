"""What the app has to know of the Learn page: it has no state of its own."""

from views.manifest import Manifest

MANIFEST = Manifest()
