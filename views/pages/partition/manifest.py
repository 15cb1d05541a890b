"""What the app has to know of the Partition page."""

from views.manifest import Manifest, stop
from views.pages.partition.state import PartitionState

MANIFEST = Manifest(
    state=PartitionState,
    keys=(("Partition", (("`j` `k`", "next and previous step"),)),),
    question="Which parts does a library take, and why do two of them stay apart?",
    stops=(
        stop(
            "Two regions, kept apart",
            "A `let` stands between two calls of one library: the blocking path is red.",
            sample="relay/library_call_two.relay",
            pair=0,
        ),
        stop(
            "A value leaves and comes back",
            "One library, two regions: `tanh`, which it lacks, lies on the path between them.",
            sample="relay/partition_branches.relay",
            pair=0,
        ),
        stop(
            "Two libraries in Relax",
            "Composites become regions and external functions; `sin` keeps two regions of one library apart.",
            sample="relax/partition_paths.py",
            pair=0,
        ),
        stop(
            "A region that never ends",
            "The same lets, cut as they were when the bug was reported.",
            sample="relay/library_call_two.relay",
            lets="reported",
        ),
    ),
)
