"""What a file has to be for a parameter, and why it is not."""

from typing import NoReturn

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.expr import TensorType, Var
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.prim import AnyDim
from relax_core.present.words import type_text


def known_dims(type_: TensorType) -> tuple[int | None, ...] | None:
    """Return the dimensions of a tensor, `None` for a symbolic one; `None` if its shape is unknown."""
    if not isinstance(type_.shape, tuple):
        return None
    dims: list[int | None] = []
    for dim in type_.shape:
        try:
            dims.append(None if isinstance(dim, AnyDim) else int(evaluate(dim, {})))
        except NoValueError:
            dims.append(None)
    return tuple(dims)


def refuse(message: str, param: Var, hint: str = "") -> NoReturn:
    """Say that a file cannot be read."""
    raise RunError((Diagnostic("EN036", message, param.span, hint),))


def misfit(found: str, param: Var, hint: str) -> NoReturn:
    """Say what was found in a file, and of what type the parameter is that it was for."""
    wanted = type_text(param.annotation or TensorType())
    message = f"{found} does not fit the parameter `{param.name}`, which is {wanted}"
    raise RunError((Diagnostic("EN037", message, param.span, hint),))
