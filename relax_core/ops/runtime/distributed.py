"""Operators of several workers. One process is one worker: what they exchange is what it has."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from relax_core.ir.expr import Call, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ops.arithmetic.elementwise import infer_same
from relax_core.ops.attributes import flag_at, word_at
from relax_core.ops.kernels.scalar import floordiv, mul, size
from relax_core.ops.operands import call_name, int_at, normal_axis, tensor_at
from relax_core.ops.runtime.control import declared
from relax_core.ops.schema import ARGUMENTS, FUNCTION, TIR_VARS, X
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, realized

_SEE = "tvm/src/relax/op/ccl/ccl.cc"
_SEE_DIST = "tvm/src/relax/op/distributed/distributed.cc"
_INPUT, _WORKERS = Param("input", "tensor"), Param("num_workers", "prim", "int64")
_IN_GROUP = Param("in_group", "prim", "bool", default=True)
_MESH = (Param("device_mesh", "expr"), Param("placement", "expr"))
_WORDS = ("sum", "prod", "min", "max", "avg")


def _infer_reduce(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand; the way of reducing is one of a few words."""
    word_at(call, arg_types, 1, _WORDS)
    flag_at(call, arg_types, 2)
    return tensor_at(call, arg_types)


def _workers(call: Call, arg_types: tuple[Type, ...]) -> int:
    count = int_at(call, arg_types, 1)
    if count < 1:
        raise OpTypeError("TY018", f"{call_name(call)} needs at least one worker, got {count}")
    return count


def _infer_gather(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the first size times the number of workers."""
    data, count = tensor_at(call, arg_types), _workers(call, arg_types)
    if not data.dims:
        return data
    return replace(data, shape=(size(mul(data.dims[0], count)), *data.dims[1:]))


def _infer_scatter(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the size at the axis divided by the number of workers."""
    data, count, axis = tensor_at(call, arg_types), _workers(call, arg_types), int_at(call, arg_types, 2)
    if data.dims is None:
        return data
    place = normal_axis(call, axis, len(data.dims))
    extent = constant_value(data.dims[place])
    if extent is not None and extent % count:
        raise OpTypeError("TY037", (f"{call_name(call)} cannot divide ", data, f" among {count} workers"))
    part = size(floordiv(data.dims[place], count))
    return replace(data, shape=(*data.dims[:place], part, *data.dims[place + 1 :]))


def _infer_declared(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer what the call declares; TY031 if it declares nothing."""
    found = declared(call)
    if found is None:
        raise OpTypeError("TY031", f"{call_name(call)} needs the types of its results")
    return found


def _copy(args: tuple[Value, ...]) -> Value:
    return np.array(args[0])


def _only(index: int, function: Callable[..., Any]) -> Callable[[tuple[Value, ...]], Value]:
    """Return an evaluation for the worker 0, which stands for the others."""

    def evaluate(args: tuple[Value, ...]) -> Value:
        return function(np.asarray(args[0]), *(int(item) for item in args[1 : index + 1]))

    return evaluate


def _gathered(data: np.ndarray[Any, Any], count: int) -> Any:
    return np.concatenate([data] * count) if data.ndim else data.copy()


def _part(data: np.ndarray[Any, Any], count: int, axis: int) -> Any:
    return np.array(np.split(data, count, axis=axis)[0])


_ONE_PROCESS = "It is about several workers, and a run is one process: it gets what the first of them would."

_EXCHANGED = realized(
    "lowering",
    "LegalizeOps makes it a call of the runtime's function. A run is one worker, the first; the others have the same.",
    OpSpec("relax.ccl.allreduce", (X, Param("op_type", "prim", "string", default="sum"), _IN_GROUP), _infer_reduce,
           "Reduce over the workers.", evaluate=_copy, see=_SEE),
    OpSpec("relax.ccl.allgather", (X, _WORKERS, _IN_GROUP), _infer_gather, "Join what the workers have.",
           evaluate=_only(1, _gathered), see=_SEE),
    OpSpec("relax.ccl.broadcast_from_worker0", (X,), infer_same, "Give all workers what the first has.",
           evaluate=_copy, see=_SEE),
    OpSpec("relax.ccl.scatter_from_worker0", (X, _WORKERS, Param("axis", "prim", "int64", default=0)),
           _infer_scatter, "Divide what the first worker has.", evaluate=_only(2, _part), see=_SEE),
)  # fmt: skip

SPECS = _EXCHANGED + realized(
    "shown",
    _ONE_PROCESS,
    OpSpec("relax.dist.annotate_sharding", (_INPUT, *_MESH), infer_same, "Say how a tensor is divided.",
           evaluate=_copy, see=_SEE_DIST),
    OpSpec("relax.dist.redistribute", (_INPUT, *_MESH), infer_same, "Divide a tensor otherwise.", evaluate=_copy,
           see=_SEE_DIST),
    OpSpec("relax.dist.redistribute_replica_to_shard", (_INPUT, _WORKERS, Param("axis", "prim", "int64")),
           _infer_scatter, "Keep one part of a tensor that all workers have.", evaluate=_only(2, _part),
           see=_SEE_DIST),
    OpSpec("relax.dist.call_tir", (FUNCTION, ARGUMENTS, TIR_VARS), _infer_declared,
           "Call a prim func on tensors that are divided over devices.", see=_SEE_DIST, takes_type_args=True),
    OpSpec("relax.dist.call_tir_local_view", (FUNCTION, ARGUMENTS), _infer_declared,
           "Call a prim func on the parts of this worker.", see=_SEE_DIST, takes_type_args=True),
)  # fmt: skip
