"""Reductions of any sizes whose outputs lie side by side, as of windows and columns: a lane for each output."""

from dataclasses import dataclass

from relax_core.ir.integer.interval import Interval
from relax_core.ir.node import postorder
from relax_core.ir.prim import (
    COMPARISONS,
    Binary,
    FloatImm,
    IntImm,
    PrimExpr,
    Select,
    Unary,
    dtype_of,
)
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.contractions.any_sizes import DTYPES, LARGEST_TERM
from relax_core.jit.transforms.contractions.any_sizes_nest import told
from relax_core.jit.transforms.contractions.read_any import any_nest, is_in_range, reduced, why_not_counted
from relax_core.jit.transforms.reductions.columns_any_code import AnyColumns, AnyColumnsCode, lane_stride
from relax_core.jit.transforms.reductions.reduction import may_stop
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import can_combine

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Fewer outputs leave most lanes of a vector without work.
FEWEST_COLUMNS = 4
# Elements may lie so far apart that lanes take one each.
MOST_APART = 2
# Differences of compared indices, and the lanes behind them, are far from wrapping around.
_FITTING = Interval(-(1 << 60), 1 << 60)


def plan_columns_any(state: State, loop: For) -> Plan | Refusal | None:
    """Plan the reductions of outputs that lie side by side, if a number or a length is not known."""
    columns = _read(state, loop)
    if columns is None or isinstance(columns, str):
        return None if columns is None else Refusal(columns)
    code = AnyColumnsCode(state, columns)
    shape = (1, 1, columns.lanes)
    reason = f"{columns.lanes} lanes along `{loop.var.name}`, a total each; those behind the last touch nothing"
    return Plan(
        reason,
        code.emit,
        lambda: (told((loop,), columns.terms, columns.found.update, columns.init, shape),),
        columns.found.update,
    )


# Why the bits stay: the variable of the loop is the last index of the output by itself, so that each element is written
# by one lane; it starts from `init`, or from what it held, and its terms are combined in the order of the text, with
# the operands on the same sides. A choice loads in each lane what that lane chooses: a load is masked by the conditions
# around it, under which it is proven in range for all values of the loops, and by the lane's being one of the outputs.
# Conditions compare indices, which read no memory and do not wrap around. No value reads an output, or may stop.
COLUMNS_ANY = Transform(
    "columns_any",
    "Outputs of any number that lie side by side are reduced in the lanes of a vector",
    MODES,
    plan_columns_any,
)


def _read(state: State, loop: For) -> AnyColumns | str | None:
    nest = any_nest(loop)
    if nest is None or len(nest.loops) < 2:
        return None
    counts = [state.bounds.constant(item.extent) for item in nest.loops]
    if None not in counts:
        return None
    terms = nest.loops[1:]
    refused = why_not_counted(state, nest.loops)
    if not refused and (counts[0] or FEWEST_COLUMNS) < FEWEST_COLUMNS:
        refused = "so few outputs gain nothing"
    read = refused or reduced(state, nest, len(terms))
    if isinstance(read, str):
        return read
    scalar = state.scalar_of(read.found.update.buffer)
    if isinstance(read.init, FloatImm) and scalar.kind != "float":
        return "its initial value has another dtype than the output"
    columns = AnyColumns(loop, terms, read.found, read.init, scalar, state.options.lanes(scalar.bits))
    return _why_not(state, columns) or columns


def _why_not(state: State, columns: AnyColumns) -> str:
    """Say what of a reduction is not taken, or return an empty string."""
    store, found, scalar = columns.found.update, columns.found, columns.scalar
    if scalar.name not in DTYPES or not can_combine(found.op, scalar) or dtype_of(found.term) != scalar.name:
        return f"`{found.op}` of {scalar.name} is not combined in vectors"
    if len([*postorder(found.term)]) > 4 * LARGEST_TERM:
        return "its term is not computed in vectors"
    loads = [item for item in postorder(found.term) if isinstance(item, BufferLoad)]
    storages = [state.environment.storage.get(item.buffer) for item in (store, *loads)]
    if any(item is None or item.memory is not None or item.strides[-1:] != ("1",) for item in storages):
        return "a buffer is a view, or its elements do not lie side by side"
    if store.buffer in state.environment.held or any(item.buffer is store.buffer for item in loads):
        return "it reads another element of the output, or one that is in a register"
    if any(len(item.indices) != len(item.buffer.shape) for item in (store, *loads)):
        return "an access has another rank than its buffer"
    variables = {columns.columns.var, *(item.var for item in columns.terms)}
    outer = {item for index in store.indices[:-1] for item in postorder(index)}
    if store.indices != found.own.indices or store.indices[-1:] != (columns.columns.var,) or variables & outer:
        return "its outputs do not lie side by side along the outermost loop"
    if may_stop(found.term) or any(may_stop(index) for index in store.indices):
        return "the value may stop the kernel"
    return _Proof(state, columns).why_not()


@dataclass(frozen=True, slots=True)
class _Proof:
    """Tells whether vectors compute the term of a reduction, and all its accesses are in range."""

    state: State
    columns: AnyColumns

    def why_not(self) -> str:
        """Say what is not taken, or return an empty string."""
        bounds = self.state.bounds
        mark = bounds.mark()
        for item in (self.columns.columns, *self.columns.terms):
            bounds.enter_loop(item)
        store = self.columns.found.update
        found = "" if is_in_range(self.state, store) else "an index is not proven to be in range"
        found = found or self._refused(self.columns.found.term, is_chosen=False)
        bounds.leave(mark)
        return found

    def _refused(self, expr: PrimExpr, *, is_chosen: bool) -> str:
        """Say what of a value is not computed in vectors; one that `is_chosen` is not the value of all lanes."""
        scalar = self.columns.scalar
        match expr:
            case FloatImm() | IntImm() if dtype_of(expr) == scalar.name:
                return ""
            case BufferLoad():
                return self._refused_load(expr, is_chosen=is_chosen)
            case Binary(op=op, a=a, b=b) if can_combine(op, scalar) and dtype_of(a) == dtype_of(b) == scalar.name:
                return self._refused(a, is_chosen=is_chosen) or self._refused(b, is_chosen=is_chosen)
            case Select(condition=condition, true_value=a, false_value=b) if dtype_of(a) == dtype_of(b) == scalar.name:
                if not self._is_condition(condition):
                    return "it is chosen by more than comparisons of indices"
                return self._chosen(condition, a, truth=True) or self._chosen(condition, b, truth=False)
            case _:
                return "its term is not computed in vectors"

    def _chosen(self, condition: PrimExpr, side: PrimExpr, *, truth: bool) -> str:
        bounds = self.state.bounds
        mark = bounds.mark()
        bounds.assume(condition, truth=truth)
        found = self._refused(side, is_chosen=True)
        bounds.leave(mark)
        return found

    def _refused_load(self, load: BufferLoad, *, is_chosen: bool) -> str:
        if self.state.scalar_of(load.buffer) != self.columns.scalar:
            return "an operand has another dtype than the output"
        *around, last = (self._stride(index) for index in load.indices)
        if any(stride != 0 for stride in around) or last is None or not 0 <= last <= MOST_APART:
            return "the elements of an operand do not lie side by side"
        if any(isinstance(item, BufferLoad) for index in load.indices for item in postorder(index)):
            return "an index is read"
        if is_chosen and last == 0:
            return "an element that all lanes read is chosen"
        return "" if is_in_range(self.state, load) else "an index is not proven to be in range"

    def _is_condition(self, condition: PrimExpr) -> bool:
        match condition:
            case Unary(op="not", a=a):
                return self._is_condition(a)
            case Binary(op="and" | "or", a=a, b=b):
                return self._is_condition(a) and self._is_condition(b)
            case Binary(op=op, a=a, b=b) if op in COMPARISONS and dtype_of(a) == dtype_of(b):
                bounds = self.state.bounds
                reads = any(isinstance(item, BufferLoad) for item in postorder(condition))
                are_signed = dtype_of(a) in ("int32", "int64") and not reads
                return (
                    are_signed
                    and all(bounds.interval(item).is_within(_FITTING) for item in (a, b))
                    and None not in (self._stride(a), self._stride(b))
                )
            case _:
                return False

    def _stride(self, index: PrimExpr) -> int | None:
        return lane_stride(self.state, self.columns, index)
