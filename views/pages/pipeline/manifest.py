"""What the app has to know of the Pipeline page."""

from views.manifest import Manifest, stop
from views.pages.pipeline.state import PipelineState
from views.state.shared import FIRST_SAMPLE

MANIFEST = Manifest(
    state=PipelineState,
    keys=(
        (
            "Pipeline",
            (
                ("`j` `k`", "next and previous stage"),
                ("`a`", "keep this stage at the left, or no longer"),
                ("`c`", "the pass that is to blame"),
                ("`f`", "find a name in all stages"),
                ("`u` `w`", "hide unchanged, wrap lines"),
            ),
        ),
    ),
    question="Which of TVM's passes, or of my own, made my model compute something else?",
    stops=(
        stop(
            "A pass is to blame",
            "A recorded build of TVM behind a pass with a bug: every stage is run, and the first wrong one is named.",
            sample=FIRST_SAMPLE,
            recording="recordings/head_wrong.rxt",
            judged=1,
        ),
        stop(
            "A build of TVM",
            "The 82 stages of a build, with times and nesting, down to the prim funcs of the host.",
            sample=FIRST_SAMPLE,
            recording="recordings/head.rxt",
        ),
    ),
)
