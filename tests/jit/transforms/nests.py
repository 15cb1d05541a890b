"""Nests for the tests of transformations, and the comparison with what the naive lowering computes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import RunError
from relax_core.ir.prim import PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, IterKind, IterVar, PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import Make, for_each, prim_func

Array = npt.NDArray[Any]
Read = Callable[[int], PrimExpr]
WIDTHS = (128, 256, 512)
NAIVE = Engine(options=KernelOptions(is_transformed=False))
ENGINES = {width: Engine(options=KernelOptions(vector_bits=width)) for width in WIDTHS}
# What is written beside an array is seen in margins that are filled with this.
MARGIN_BYTES, MARK = 512, 0xA5
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 3e38, -3e38, 1e-45, 1.0)


@dataclass(frozen=True)
class Input:
    """An array that a nest reads: its axes by their numbers in the nest, outermost first, and a step for each."""

    axes: tuple[int, ...]
    dtype: str = "float32"
    steps: tuple[int, ...] = ()

    def shape(self, extents: Sequence[int]) -> tuple[int, ...]:
        """Return the extents, each as large as the steps reach."""
        steps = self.steps or (1,) * len(self.axes)
        return tuple(max((extents[axis] - 1) * step + 1, 0) for axis, step in zip(self.axes, steps, strict=True))

    def indices(self, variables: Sequence[PrimVar]) -> tuple[PrimExpr, ...]:
        """Return the indices at the nest's variables."""
        steps = self.steps or (1,) * len(self.axes)
        return tuple(
            variables[axis] if step == 1 else binary("*", variables[axis], const(step, "int64"))
            for axis, step in zip(self.axes, steps, strict=True)
        )


@dataclass(frozen=True)
class Accumulation:
    """`out = combine(out, value(loads))` over the axes of kind "reduce"; `kinds` are outermost first.

    If the value `is_placed`, it takes the variables of the axes behind the loads.
    """

    kinds: tuple[IterKind, ...]
    inputs: tuple[Input, ...]
    value: Make
    combine: Callable[[PrimExpr, PrimExpr], PrimExpr]
    start: PrimExpr | None
    dtype: str = "float32"
    is_placed: bool = False

    def function(self, extents: Sequence[int]) -> PrimFunc:
        """Make the prim func for these extents of the axes."""
        loops = [PrimVar(f"l{number}", "int64") for number in range(len(extents))]
        variables = [PrimVar(f"v{number}", "int64") for number in range(len(extents))]
        buffers = [
            Buffer(f"In{number}", tuple(const(dim, "int64") for dim in item.shape(extents)), item.dtype)
            for number, item in enumerate(self.inputs)
        ]
        spatial = [number for number, kind in enumerate(self.kinds) if kind == "spatial"]
        out = Buffer("Out", tuple(const(extents[axis], "int64") for axis in spatial), self.dtype)
        at = tuple(variables[axis] for axis in spatial)
        loads = [BufferLoad(buffer, item.indices(variables)) for buffer, item in zip(buffers, self.inputs, strict=True)]
        value = self.value(*loads, *(variables if self.is_placed else ()))
        update = BufferStore(out, at, self.combine(BufferLoad(out, at), value))
        init = None if self.start is None else BufferStore(out, at, self.start)
        dims = [const(extent, "int64") for extent in extents]
        iters = tuple(
            IterVar(var, dim, loop, kind)
            for var, dim, loop, kind in zip(variables, dims, loops, self.kinds, strict=True)
        )
        return prim_func([*buffers, out], for_each(loops, dims, Block("", iters, update, init)))

    def arrays(self, extents: Sequence[int], seed: int) -> list[Array]:
        """Make the inputs, special values among them, and an output that is not zero."""
        random = np.random.default_rng(seed)
        shapes = [(item.shape(extents), item.dtype) for item in self.inputs]
        spatial = tuple(extent for extent, kind in zip(extents, self.kinds, strict=True) if kind == "spatial")
        return [filled(random, shape, dtype) for shape, dtype in (*shapes, (spatial, self.dtype))]


def filled(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Make an array of numbers of all sizes, in which every eighth may be special."""
    if not dtype.startswith("float"):
        return random.integers(-100, 100, shape).astype(dtype)
    made = random.standard_normal(shape).astype(dtype)
    if random.random() < 0.5:
        with np.errstate(over="ignore"):
            special = random.choice(np.array(SPECIAL).astype(dtype), shape)
        made = np.where(random.random(shape) < random.choice((0.01, 0.3)), special, made).astype(dtype)
    return made


def agree(got: Array, expected: Array) -> bool:
    """Tell whether all bits are equal; one NaN is as good as another, as LLVM does not keep their bits."""
    if expected.dtype.kind != "f":
        return got.tobytes() == expected.tobytes()
    words = f"u{expected.dtype.itemsize}"
    is_same = (got.view(words) == expected.view(words)) | (np.isnan(got) & np.isnan(expected))
    return bool(is_same.all())


def compare(function: PrimFunc, arrays: Sequence[Array], engine: Engine) -> tuple[str, ...]:
    """Compare with the naive lowering, and return what the transformations that were applied are called."""
    expected = [array.copy() for array in arrays]
    NAIVE.kernel(function, "naive")(*expected)
    kernel = engine.kernel(function, "transformed")
    memory = [np.full(array.nbytes + 2 * MARGIN_BYTES, MARK, np.uint8) for array in arrays]
    got: list[Array] = []
    for array, block in zip(arrays, memory, strict=True):
        inside = block[MARGIN_BYTES : MARGIN_BYTES + array.nbytes].view(array.dtype).reshape(array.shape)
        inside[...] = array
        got.append(inside)
    kernel(*got)
    for mine, theirs, block in zip(got, expected, memory, strict=True):
        assert agree(mine, theirs), (mine, theirs)
        assert (block[:MARGIN_BYTES] == MARK).all(), "something was written before the array"
        assert (block[MARGIN_BYTES + mine.nbytes :] == MARK).all(), "something was written behind the array"
    return tuple(remark.transform for remark in kernel.remarks() if remark.kind == "applied")


def outcome(engine: Engine, function: PrimFunc, arrays: Sequence[Array], *, is_generic: bool) -> str:
    """Run a kernel; return what it says if it stops."""
    kernel = engine.kernel(function, "main")
    kernel.specialised_variants = kernel.at_once = 0 if is_generic else 1000
    try:
        kernel(*arrays)
    except RunError as error:
        return str(error.diagnostics[0])
    return ""


def assert_alike(engine: Engine, function: PrimFunc, arrays: Sequence[Array], *, is_generic: bool) -> str:
    """Compare all that a kernel writes and says with the naive lowering."""
    mine, theirs = ([array.copy() for array in arrays] for _ in range(2))
    found = outcome(engine, function, mine, is_generic=is_generic)
    assert found == outcome(NAIVE, function, theirs, is_generic=is_generic)
    assert all(agree(a, b) for a, b in zip(mine, theirs, strict=True))
    return found


def applied(function: PrimFunc, engine: Engine) -> Mapping[str, str]:
    """Return why transformations were refused, or how they were applied, by their names."""
    return {remark.transform: f"{remark.kind}: {remark.reason}" for remark in engine.kernel(function, "f").remarks()}


def permuted(shape: Sequence[int], order: Sequence[int], steps: Sequence[int], dtype: str = "float32") -> PrimFunc:
    """Make `Out[i...] = In[...]`: axis `n` of `Out` is axis `order[n]` of `In`, and steps may be negative."""
    variables = [PrimVar(f"i{axis}", "int64") for axis in range(len(shape))]
    dims = [const(extent, "int64") for extent in shape]
    sizes = [max(extent * abs(step), 0) for extent, step in zip(shape, steps, strict=True)]
    source = Buffer(
        "In", tuple(const(sizes[axis], "int64") for axis in sorted(range(len(order)), key=order.__getitem__)), dtype
    )
    indices: list[PrimExpr] = [variables[0]] * len(order)
    for axis, place in enumerate(order):
        along: PrimExpr = variables[axis]
        if steps[axis] < 0:
            along = binary("-", const(shape[axis] - 1, "int64"), along)
        indices[place] = binary("*", along, const(abs(steps[axis]), "int64"))
    out = Buffer("Out", tuple(dims), dtype)
    store = BufferStore(out, tuple(variables), BufferLoad(source, tuple(indices)))
    return prim_func([source, out], for_each(variables, dims, store))
