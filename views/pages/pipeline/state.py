"""The state of the Pipeline page."""

from dataclasses import dataclass

from views.state import rules

VIEWS = ("text", "graph", "structure", "functions", "ours", "costs", "calls")


@dataclass(frozen=True, slots=True)
class PipelineState:
    """Which recording is open, and which of its stages are looked at."""

    recording: str = rules.text(kept="always")
    """A sample; `opened` for the one that the server was started on, `yours` for what this tab uploaded."""
    recorded_stage: int = rules.number(-1, 10**6, -1)
    """The position of the stage at the right; -1 for the one that the page chooses."""
    against: int = rules.number(-1, 10**6, -1)
    """The position of the stage at the left; -1 for the form before."""
    pinned: int = rules.switch()
    """The stage at the left stays while others are opened at the right."""
    recorded_line: str = rules.text(20)
    """The marked line: `a/3` at the left, `b/3` at the right."""
    compared_as: str = rules.choice(*VIEWS)
    """What is shown of the two stages; empty for their texts."""
    followed: int = rules.switch()
    """The life of the marked line is shown."""
    drawn_function: str = rules.text(200)
    """The prim func whose graph is shown; empty for the one that the page chooses."""
    recorded_entry: str = rules.text(200)
    """The function that runs; empty for the one that the page chooses."""
    recorded_sizes: str = rules.sizes()
    """Of symbolic dimensions of the made-up inputs."""
    recorded_seed: int = rules.number(0, 10**6)
    """Of the made-up inputs."""
    recorded_stand_ins: str = rules.text(rules.LONGEST_LIST)
    """What stands in for packed functions that are not here: `my.f=zeros,my.g=recorded`."""
    compared_run: int = rules.number(0, 10**6)
    """The recorded run whose calls are compared."""
    runs_on: int = rules.switch()
    """The machine runs on from the recorded inputs; otherwise each call has its recorded arguments."""
    judged: int = rules.switch()
    """The forms of the program are run and compared."""
    checked: int = rules.switch()
    """The forms of a large recording are read and checked."""
    sought: str = rules.text(200)
    """A name that is looked for in all stages."""
