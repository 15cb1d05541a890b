"""A prim func for given sizes and options: what is lowered, and known by its content wherever it is compiled."""

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast

from relax_core.diagnostics import CompileError
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.content import node_at, nodes_of, rows_of, to_bytes
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.metadata import CachedKernel, KernelMetadata, metadata_of
from relax_core.jit.compilation.target import Target
from relax_core.jit.lowering.calls.prim_calls import called_functions
from relax_core.jit.lowering.checks import Locate
from relax_core.jit.lowering.frame import ENTRY
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.lower import Lowered, lower
from relax_core.jit.options import KernelOptions

# How the row of a call between prim funcs starts.
_CALL = ("Intrinsic", "global")


PACKAGES: Final = ("analysis", "ir", "jit")
"""Where lowering is written: the same prim func becomes the same code as long as nothing changes there."""

_ROOT = Path(__file__).resolve().parents[2]


@lru_cache(1)
def lowering_version() -> str:
    """Return the digest of the sources that lowering consists of."""
    digest = blake2b(digest_size=20)
    for package in PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(f"{path.relative_to(_ROOT).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Specialisation:
    """What `lower` takes: `sizes` are the values of the symbols of `function`, `None` for any."""

    function: PrimFunc
    functions: Mapping[str, PrimFunc]
    options: KernelOptions
    sizes: tuple[int, ...] | None
    are_distinct: bool = True
    outputs: frozenset[int] | None = None

    @property
    def value_of(self) -> Mapping[PrimVar, int] | None:
        """The values of the symbols."""
        return None if self.sizes is None else dict(zip(shape_symbols(self.function), self.sizes, strict=True))

    def lowered(self, locate: Locate, is_cancelled: Callable[[], bool] = lambda: False) -> Lowered:
        """Lower it.

        Raises:
            CompileError: it cannot be compiled.
            RunError: it was cancelled.
        """
        return lower(
            self.function,
            self.value_of,
            locate,
            self.functions,
            self.options,
            are_distinct=self.are_distinct,
            outputs=self.outputs,
            is_cancelled=is_cancelled,
        )

    def metadata(self, lowered: Lowered, target: Target) -> KernelMetadata:
        """Return what calls of its code need to know."""
        return metadata_of(self.function, lowered, self.value_of, source_of(lowered).key(target))

    def request(self) -> "Request | None":
        """Return it as bytes, `None` if it is for any sizes, whose code no entry of the cache describes."""
        if self.sizes is None:
            return None
        rows, roots = rows_of((self.function,))
        names: list[list[object]] = []
        if any((*row[:2],) == _CALL for row in rows):
            called = called_functions(self.function, self.functions)
            names = [[name, called.index(item)] for name, item in self.functions.items() if item in called]
            rows, roots = rows_of((self.function, *called))
        outputs = None if self.outputs is None else sorted(self.outputs)
        content = to_bytes([_plain(self.options), self.sizes, self.are_distinct, outputs, names, roots, rows])
        return None if content is None else Request(content)


@dataclass(frozen=True, slots=True)
class Request:
    """A specialisation as bytes. Equal bytes are the same program up to names, for the same sizes and options."""

    content: bytes

    def key(self, target: Target) -> str:
        """Return what all that its code depends on is known by."""
        head = f"{target.description}\n{lowering_version()}\n"
        return blake2b(head.encode() + self.content, digest_size=20).hexdigest()

    def compile(self, target: Target) -> bytes | None:
        """Lower and compile it: an entry of the cache, `None` if there is none of it.

        Raises:
            ValueError: the content is no specialisation.
        """
        wanted = self.specialisation()
        try:
            lowered = wanted.lowered(_nowhere)
        except CompileError:
            return None
        metadata = wanted.metadata(lowered, target)
        return CachedKernel(metadata, source_of(lowered).compile(target)).to_bytes() if metadata.is_kept else None

    def specialisation(self) -> Specialisation:
        """Make the specialisation again.

        Raises:
            ValueError: the content is none.
        """
        try:
            content: list[Any] = json.loads(self.content)
            (*options, off), sizes, are_distinct, outputs, names, roots, rows = content
            nodes = nodes_of(rows)
            function, *called = [_prim_func(node_at(root, nodes)) for root in cast("list[int]", roots)]
            return Specialisation(
                function,
                {name: called[number] for name, number in cast("list[tuple[str, int]]", names)},
                replace(KernelOptions(*options), without=tuple(off)),
                tuple(sizes),
                are_distinct,
                None if outputs is None else frozenset(outputs),
            )
        except (TypeError, IndexError) as error:
            raise ValueError(f"this is no specialisation: {error}") from None


@lru_cache(16)
def _plain(options: KernelOptions) -> tuple[object, ...]:
    return astuple(options)


def source_of(lowered: Lowered) -> LLVMSource:
    """Return the LLVM IR of a kernel as a module to compile."""
    return LLVMSource(lowered.text, ENTRY, pipeline=lowered.pipeline, has_chunks=lowered.has_chunks)


def _prim_func(node: Node) -> PrimFunc:
    if not isinstance(node, PrimFunc):
        raise TypeError(f"{type(node).__name__} is no prim func")
    return node


def _nowhere(node: Node) -> None:
    """Tell no place of a node: there is no text."""
    del node
