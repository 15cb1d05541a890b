"""External functions: what RunCodegen handed to a backend, which passes leave as it is."""

from dataclasses import replace
from typing import Final

from relax_core.ir.attrs import attr
from relax_core.ir.module import BaseFunc, Definition, IRModule
from relax_core.passes.core import PassContext

EXTERNAL: Final = "External"
DESTINATION_COUNT: Final = "destination_count"
"""How many of the last parameters of a linked external function are written by it."""


def is_external(function: BaseFunc) -> bool:
    """Tell whether a function belongs to a backend."""
    return bool(attr(function.attrs, EXTERNAL))


def without_external(module: IRModule, ctx: PassContext) -> tuple[IRModule, tuple[Definition, ...]]:
    """Split `module` into what passes see and its external functions; the module itself if it has none."""
    external = tuple(item for item in module.definitions if is_external(item.function))
    if not external:
        return module, ()
    seen = tuple(item for item in module.definitions if item not in external)
    return ctx.derive(replace(module, definitions=seen), module), external


def with_external(module: IRModule, external: tuple[Definition, ...], ctx: PassContext) -> IRModule:
    """Return `module`, which a pass made, with the external functions behind its own."""
    return ctx.derive(replace(module, definitions=(*module.definitions, *external)), module) if external else module
