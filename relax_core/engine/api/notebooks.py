"""The public function that shows something in a notebook."""

from relax_core.engine.notebook.still import Still
from relax_core.engine.notebook.subject import Subject, of_module
from relax_core.ir.module import IRModule

__all__ = ["show"]


def show(subject: IRModule) -> Still:
    """Show a module where a notebook shows the value of a cell: its text, what is wrong with it, and its graphs."""
    return Still(_subject(subject))


def _subject(subject: IRModule) -> Subject:
    return of_module(subject)
