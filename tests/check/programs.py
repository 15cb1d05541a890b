"""Programs that the tests of the checker write down."""

from relax_core.check.infer import Inference, infer
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import GlobalVar, Var
from relax_core.ir.module import IRModule
from relax_core.ops.show import show_type

HEADER = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
"""


def module_of(body: str) -> IRModule:
    """Parse the functions of a module, which are indented by four spaces."""
    parsed = parse_text(HEADER + body.strip("\n") + "\n", "test.py")
    assert not [item for item in parsed.diagnostics if item.severity != "note"], parsed.diagnostics
    (module,) = parsed.modules
    return module


def types_by_name(module: IRModule, inference: Inference | None = None) -> dict[str, str]:
    """Return the types of variables and globals by name, as source."""
    types = (inference or infer(module)).types
    return {node.name: show_type(type_) for node, type_ in types.items() if isinstance(node, Var | GlobalVar)}
