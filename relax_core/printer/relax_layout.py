"""Where the arguments of an operator stand in the text of a call: told by its schema, once for all calls alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from relax_core.ops import find
from relax_core.ops.spec import OMITTED, OpSpec, Param

_DPS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
_OUT_TYPED = (
    "relax.call_tir_with_grad",
    "relax.call_py_func",
    "relax.dist.call_tir",
    "relax.dist.call_tir_local_view",
)
_LISTED = ("relax.assert_op",)
_WRAPPED = ("relax.memory.", "relax.vm.", "relax.builtin.")
_BY_NAME = ("prim", "dtype", "axes")
_LETTERS = (("relax.", "R."), ("tir.", "T."), ("ir.", "I."))


class ArgumentLayout(NamedTuple):
    """An argument: its position in `Call.args`, its parameter, and the word before it, "axis=" or none.

    With `is_left_out` nothing is written for `Null`.
    """

    position: int
    param: Param
    word: str
    is_left_out: bool


@dataclass(frozen=True, slots=True)
class CallLayout:
    """How calls of one operator with one number of arguments are written.

    `by_position` is `None` if the schema does not fit that number. The result types stand after the arguments given
    by position, under a name of their own, if `out_types` says so: "given" if the call has any. `are_wrapped` tells
    that before 2026 the operator took expressions, never bare numbers, words and dtypes; `are_listed` that values of
    any number stand in one list behind the first argument.
    """

    callee: str
    by_position: tuple[ArgumentLayout, ...] | None = None
    by_name: tuple[ArgumentLayout, ...] = ()
    out_types: Literal["always", "given", "never"] = "never"
    are_tensors: bool = False
    are_wrapped: bool = False
    are_listed: bool = False


@lru_cache(maxsize=1024)
def call_layout(name: str, arg_count: int) -> CallLayout:
    """Return how a call of the operator `name` is written."""
    spec = find(name)
    called = name if spec is None else spec.name
    out_types = "always" if called in _DPS and spec is not None else "given" if called in _OUT_TYPED else "never"
    params = None if spec is None else _params_of(spec, arg_count)
    if params is None:
        return CallLayout(operator_text(name), out_types=out_types)
    last = max((index for index, param in enumerate(params) if not _is_by_name(param)), default=-1)
    by_position: list[ArgumentLayout] = []
    by_name: list[ArgumentLayout] = []
    for index, param in enumerate(params):
        is_named = param.is_keyword or (index > last and _is_by_name(param))
        place = ArgumentLayout(
            index, param, f"{param.name}=" if is_named else "", index > last and param.default is None
        )
        (by_name if is_named else by_position).append(place)
    are_tensors = all(item.kind == "tensor" and not item.is_variadic and not item.is_keyword for item in params)
    are_wrapped = called.startswith(_WRAPPED)
    are_listed = called in _LISTED
    places = (tuple(by_position), tuple(by_name))
    return CallLayout(operator_text(name), *places, out_types, are_tensors, are_wrapped, are_listed)


@lru_cache(maxsize=1024)
def operator_text(name: str) -> str:
    """Return "R.nn.relu" for "relax.nn.relu"."""
    found = ((module, letter) for module, letter in _LETTERS if name.startswith(module))
    module, letter = next(found, ("", "R."))
    return letter + name.removeprefix(module)


def _params_of(spec: OpSpec, arg_count: int) -> Sequence[Param] | None:
    """Return the parameter of each argument; `None` if the schema does not fit their number."""
    if arg_count == len(spec.params):
        return spec.params
    found: list[Param] = []
    for param in spec.params:
        if param.is_variadic:
            found += [param] * (arg_count - len(found))
        elif len(found) < arg_count:
            found.append(param)
        elif param.default is not OMITTED:
            return None
    return found if len(found) == arg_count else None


def _is_by_name(param: Param) -> bool:
    return param.is_keyword or param.kind in _BY_NAME
