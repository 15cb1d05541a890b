"""Types in patterns, as Relay writes them."""

from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Function, Type, Var
from relax_core.ir.module import Definition, IRModule


def read_type(text: str) -> Type:
    """Read a type such as `Tensor[(4, 4), float32]` or `(int32, bool)`.

    Raises:
        ValueError: it is none.
    """
    parsed = parse_text(f'#[version = "0.0.5"]\ndef @f(%x: {text}) {{ %x }}\n', "type.relay")
    match parsed.modules:
        case [IRModule(definitions=[Definition(function=Function(params=[Var(annotation=read)]))])] if read is not None:
            return read
        case _:
            raise ValueError(f"{text} is no type of Relay")
