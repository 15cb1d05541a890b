"""What the app has to know of the page of a class, which is reached from Learn and by the link of a class."""

from views.manifest import Manifest

MANIFEST = Manifest(
    is_in_menu=False,
    keys=(
        ("Classroom", (("`PgUp` `PgDn`", "step before and next"), ("`Enter`", "reveal"), ("`t`", "30 seconds more"))),
    ),
)
