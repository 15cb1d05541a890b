"""The records of state that pages share: the program that is open, and what of it is looked at."""

from dataclasses import dataclass
from typing import Final

from relax_core.jit.options import MODES
from views.state import rules
from views.state.inputs import LONGEST_NAME

FIRST_SAMPLE: Final = "seeds/my_ir_module_corrected.py"
LAST_LESSON_STEP: Final = 99


@dataclass(frozen=True, slots=True)
class ProgramState:
    """What is open, and how it is compiled and run: all that the engine is told of a program."""

    sample: str = rules.text(default=FIRST_SAMPLE)
    text: str = rules.packed("z")
    """The user's text; empty while the sample is as it was."""
    module: str = rules.text()
    pipeline: str = rules.text(rules.LONGEST_LIST, kept="edit")
    """Empty for the default one."""
    entry: str = rules.text()
    # What the box of the Run page can hold.
    seed: int = rules.number(0, (1 << 53) - 1, kept="edit")
    dims: str = rules.sizes(kept="edit")
    """Of the symbolic dimensions of made-up inputs."""
    signed: int = rules.switch(kept="edit")
    """Made-up floats are of both signs."""
    fed: str = rules.text(LONGEST_NAME, kept="edit")
    """The name of the set of inputs that it runs on; empty for made-up ones."""
    input_sets: str = rules.packed("iz", kept="edit")
    """Sets of inputs by name, see `views.state.inputs`."""
    mode: str = rules.choice(*MODES)
    """How kernels round."""
    unwritten: int = rules.switch()
    """A run stops at an element that nothing wrote."""
    poisoned: int = rules.switch()
    """Each new tensor in a storage is filled with bytes 0xFF."""
    as_in: str = rules.choice("fixed", "reported")
    """Whether passes and the code generator have the bugs that were reported of them."""
    table: str = rules.text(kept="edit")
    """The sample of a table of patterns."""
    table_text: str = rules.packed("tz", kept="edit")
    """The user's edit of the table; empty for none."""
    rule_text: str = rules.packed("rz", kept="edit")
    """Rewrite rules; empty for none."""


@dataclass(frozen=True, slots=True)
class FocusState:
    """Which part of the program is looked at, and in which form."""

    stage: int = rules.number(-1, 10**6, -1)
    """A number of a pass, 0 for the source; -1 for the one that a page chooses."""
    function: str = rules.text()
    node: str = rules.text()
    view: str = rules.text(40, kept="edit")
    """The form that is shown, one of the page's own; another page takes its first one."""
    quantity: str = rules.choice("time", "bytes", "operations", "values", kept="always")
    """What lines and nodes are coloured by; empty for nothing."""
    bare: str = rules.text(100, kept="always")
    """The pages, with commas between, whose graphs count weights, constants and shape arithmetic at their users."""


@dataclass(frozen=True, slots=True)
class LessonState:
    """The lesson that stands beside the page, whatever else is opened there."""

    lesson: str = rules.text(60, kept="always")
    """The name of its folder; empty for none."""
    lesson_step: int = rules.number(0, LAST_LESSON_STEP, kept="always")
    """Counted from 1; 0 for none."""


@dataclass(frozen=True, slots=True)
class ClassState:
    """The class that this browser is in, whatever is opened."""

    room: str = rules.text(6, kept="always")
    """Its code; empty for none."""
