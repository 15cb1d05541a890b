"""The text of a module that somebody holds: what it was read from, or what is printed of it."""

from relax_core.frontend.parse import parse_text
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def source_of(module: IRModule) -> Source:
    """Return the text that a module was parsed from if it is what the module says, else the module printed.

    Lines of a text of one's own are those that its author knows.
    """
    definitions = tuple(module)
    source = next((item.function.span.source for item in definitions if item.function.span is not None), None)
    if source is not None:
        found = parse_text(source.text, source.name).modules
        if len(found) == 1 and structural_equal(found[0], module):
            return source
    if dialect_of(module) == "relay":
        return Source("module.relay", print_relay(module).text)
    return Source("module.py", print_module(module).text)
