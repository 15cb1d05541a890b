"""The state of the Run page."""

from dataclasses import dataclass

from views.state import rules


@dataclass(frozen=True, slots=True)
class RunState:
    """Where the run stands, where it stops, and what was changed in it."""

    time: int = rules.number(-1, rules.MOST_STEPS, -1)
    breakpoints: str = rules.text(rules.LONGEST_LIST)
    """Lines and instructions with their conditions, see `views.pages.run.points`."""
    changes: str = rules.text(rules.LONGEST_LIST)
    """What was changed while the program ran that is shown, see `views.pages.run.program`."""
    unchanged: int = rules.switch()
    """The run without `changes` is shown: older links say so, which had no `forks`."""
    forks: str = rules.text(rules.LONGEST_LIST)
    """All runs that went on with a change, as a tree, see `views.pages.run.forked.forks`."""
    from_file: int = rules.switch()
    """The run of a file that was opened is shown, while its program is what is open."""
    inside: int = rules.number(-1, rules.MOST_STEPS, -1)
    """The time of the call of a kernel that is stepped through inside; -1: the run itself is shown."""
    clock: int = rules.number(0, rules.MOST_STEPS)
    """How many statements of the kernel have run."""
    loop: int = rules.number(-1, rules.MOST_STEPS, -1)
    """The loop of the kernel that is selected."""
    block: int = rules.number(0, rules.MOST_STEPS)
    """Of a kernel that launches threads: the block that is stepped through."""
    thread: int = rules.number(0, rules.MOST_STEPS)
    """The thread of the block that is looked at."""
    order: str = rules.choice("backward", "turns")
    """Which of its warps goes on; empty for the first one up to the next barrier."""
    line: int = rules.number(0, rules.MOST_STEPS)
    """The line of the kernel whose accesses are counted alone; 0: of all."""
    heat: str = rules.choice("age", "value", "owner")
    """What is shown of its buffers; empty for counts."""
    spell: str = rules.choice("whole", "iteration")
    """Of which part of its run; empty for what has run so far."""
    watch: str = rules.text(rules.LONGEST_LIST)
    """Expressions whose values are shown at each statement of a kernel, separated by semicolons."""
    watches: str = rules.text(rules.LONGEST_LIST)
    """Expressions that are watched over the run, separated by semicolons."""
    machine: str = rules.text(200)
    """The GPU against which a launch is held, see `relax_core.simt.roofline`; empty for the default one."""
    counted: int = rules.switch()
    """The whole launch is counted, though it is a large one."""
    tab: str = rules.choice("graph", "memory", "tensor")
    """What stands beside the registers; empty for the listings."""
    tensor: str = rules.text(rules.LONGEST_LIST)
    """The tensor that is looked at and the part of it that is seen, see `views.pages.run.tensor`."""
