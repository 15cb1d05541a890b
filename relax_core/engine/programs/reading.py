"""From the text of a program, with the tensors that come with it, to what was read."""

from typing import TYPE_CHECKING

from relax_core.engine.pipelines import constants
from relax_core.engine.programs.program import Program
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.frontend.relay.detect import fitting_name

if TYPE_CHECKING:
    from relax_core.frontend.tvmscript.known import KnownFunctions


def fitting(program: Program) -> tuple[str, str, bytes]:
    """Return what reading a program depends on: its text, a name that fits it, and the archive of its tensors."""
    return program.text, fitting_name(program.text, program.name), program.constants


def read(text: str, name: str, archive: bytes, known: "KnownFunctions | None" = None) -> Parsed:
    """Read a text; functions that are `known` are not read again, see `parse_text`."""
    tensors = constants.in_order(constants.read_constants(archive)) if archive else ()
    return parse_text(text, name, tensors, known)
