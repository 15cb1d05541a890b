"""What the app has to know of the Kernels page."""

from views.manifest import Manifest, stop
from views.pages.kernels.state import KernelsState

MANIFEST = Manifest(
    state=KernelsState,
    keys=(("Kernels", (("`j` `k`", "next and previous part"), ("`l`", "the other form of LLVM IR"))),),
    question="What did the compiler make of this loop?",
    stops=(
        stop(
            "A loop down to machine code",
            "A softmax as TIR, LLVM IR and assembly: lines that belong together have one number.",
            sample="tir/row_softmax.py",
            part=8,
        ),
        stop(
            "A matrix product, tiled",
            "Which loops were tiled and vectorised, and which range checks are left.",
            sample="tir/matmul.py",
            kernel="matmul",
            sizes="m=64,k=64,n=64",
        ),
        stop(
            "Indices from a tensor",
            "Reads whose index is data: the check that stays, and what it costs.",
            sample="tir/gather.py",
        ),
    ),
)
