"""What the app has to know of the Operators page."""

from views.manifest import Manifest
from views.pages.operators.state import OperatorsState

MANIFEST = Manifest(
    state=OperatorsState,
    keys=(("Operators", (("`j` `k`", "next and previous"), ("`r`", "run the example"))),),
)
