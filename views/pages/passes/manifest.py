"""What the app has to know of the Passes page."""

from views.manifest import Manifest, stop
from views.pages.passes.state import PassesState

MANIFEST = Manifest(
    state=PassesState,
    keys=(
        (
            "Passes",
            (
                ("`j` `k`", "next and previous pass"),
                ("`d`", "text, graph, both"),
                ("`u` `w`", "hide unchanged, wrap lines"),
                ("`Space` `←` `→`", "film: play or pause, stage before, stage after"),
            ),
        ),
    ),
    question="What does each pass make of my program, and why?",
    stops=(
        stop(
            "A closure is lifted",
            "LambdaLift makes a local function global and binds what it captured.",
            sample="seeds/print_closure2_2026.py",
        ),
        stop(
            "Operators become kernels",
            "LegalizeOps replaces `matmul`, `add`, `relu` and `softmax` by calls of prim funcs.",
            sample="relax/mlp.py",
        ),
        stop(
            "A function is specialised",
            "A recursive `map` over a list, taken from Relay to a program that runs.",
            sample="relay/polymorphic_map.relay",
        ),
    ),
)
