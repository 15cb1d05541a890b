"""What the machine needs of a kernel compiler, and which arguments a prim func writes."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from relax_core.analysis.tir_memory import written_buffers
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc


class Kernel(Protocol):
    """A compiled prim func; the arguments are checked, an access out of range raises `RunError`."""

    def __call__(self, *args: Any, call_host: Callable[[str, tuple[Any, ...]], object] | None = None) -> object: ...

    def caller(self, call_host: Callable[[str, tuple[Any, ...]], object] | None = None) -> Callable[..., object]:
        """Return a callable that does the same for arguments in order."""
        ...

    def allocating_caller(self, shape: tuple[int, ...], dtype: str) -> Callable[..., object]:
        """Return a callable that takes all arguments but the last, which it makes, fills and returns."""
        ...


class KernelEngine(Protocol):
    """Compiles prim funcs; `cancel` stops the running kernel from another thread."""

    def kernel(
        self, prim_func: PrimFunc, name: str, log: RewriteLog | None, functions: Mapping[str, PrimFunc]
    ) -> Kernel: ...

    def cancel(self) -> None: ...


def written_params(prim_func: PrimFunc) -> tuple[int, ...]:
    """Return the positions of the parameters whose buffers the prim func may store to."""
    stored = written_buffers(prim_func)
    return tuple(index for index, param in enumerate(prim_func.params) if prim_func.buffer_of(param) in stored)
