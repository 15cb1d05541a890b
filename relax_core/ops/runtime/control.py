"""Operators that call, close over, print and check."""

from relax_core.ir.expr import OBJECT, VOID, Call, FuncType, ObjectType, PrimType, TensorType, TupleType, Type
from relax_core.ops.operands import call_name
from relax_core.ops.runtime.memory import infer_void
from relax_core.ops.schema import ARGUMENTS, FORMAT, FUNCTION, INPLACE_INDICES, MORE_ARGUMENTS, TIR_VARS
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, realized

_SEE = "tvm/src/relax/op/op.cc"
_CLOSURE = Param("closure", "expr")


def declared(call: Call) -> Type | None:
    """Return the result type that a call declares: one type is itself, several are a tuple."""
    match call.type_args:
        case ():
            return None
        case (only,):
            return only
        case several:
            return TupleType(several)


def _infer_declared(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer what the call declares; TY031 if it declares nothing, for the results are allocated from it."""
    found = declared(call)
    if found is None:
        raise OpTypeError(
            "TY031",
            f"{call_name(call)} needs the types of its results",
            'write out_ty=R.Tensor((n, m), "float32")',
        )
    return found


def _infer_declared_or_object(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer what the call declares, an object if it declares nothing."""
    return declared(call) or OBJECT


def _infer_closure(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer an object; TY023 if what is closed is no function."""
    if not isinstance(arg_types[0], FuncType | ObjectType):
        raise OpTypeError("TY023", ("a value of type ", arg_types[0], " is not a function to close over values"))
    return OBJECT


def _infer_object(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer an object."""
    return OBJECT


def _infer_assert(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer no value; the condition is a bool scalar."""
    if not is_condition(arg_types[0]):
        raise OpTypeError(
            "TY026", ("assert_op expects a bool scalar, got ", arg_types[0]), "compare, or use R.const(True)"
        )
    return VOID


def is_condition(type_: Type) -> bool:
    """Tell whether a value may be a condition: a host bool, a bool tensor of rank 0, or something less known."""
    match type_:
        case TensorType(dtype=dtype, ndim=ndim):
            return dtype in (None, "bool") and ndim in (None, 0)
        case PrimType(dtype=dtype):
            return dtype == "bool"
        case _:
            return isinstance(type_, ObjectType)


def _infer_invoke(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer what the call declares, else what the function returns."""
    found = declared(call)
    if found is not None:
        return found
    match arg_types[0]:
        case FuncType(ret=ret):
            return ret
        case _:
            return OBJECT


def _absent(args: tuple[Value, ...]) -> Value:
    return None


_BY_CALLEE = "It runs what it calls: a prim func, a packed function or a closure."

SPECS = (
    *realized("lowering", "It acts on the run: the bytecode calls a function of the machine.",
        OpSpec("relax.print", (FORMAT, Param("values", "expr", is_variadic=True)), infer_void,
               "Print values; a closure shows as <closure>.", is_pure=False, see=_SEE),
        OpSpec("relax.assert_op", (Param("condition", "expr"), FORMAT, Param("format_args", "expr", is_variadic=True)),
               _infer_assert, "Stop the run unless the condition holds.", is_pure=False, see=_SEE),
    ),
    OpSpec("relax.null_value", (), _infer_object, "The absent value.", evaluate=_absent, see=_SEE,
           realized_by="evaluation", reason="It has no elements."),
    OpSpec("relax.call_py_func", (Param("func_name", "prim", "string"), ARGUMENTS), _infer_declared,
           "Call a Python function of the module.", see=_SEE, takes_type_args=True,
           realized_by="shown", reason="The text of a program is never run as Python."),
    *realized("lowering", _BY_CALLEE,
        OpSpec("relax.call_tir", (FUNCTION, ARGUMENTS, TIR_VARS), _infer_declared,
               "Call a prim func that writes its results, which are allocated first.", see=_SEE, takes_type_args=True),
        OpSpec("relax.call_tir_inplace", (FUNCTION, ARGUMENTS, INPLACE_INDICES, TIR_VARS), _infer_declared,
               "Call a prim func that writes its results into some of its inputs.", see=_SEE, takes_type_args=True),
        OpSpec("relax.call_tir_with_grad",
               (FUNCTION, ARGUMENTS, Param("te_grad_name", "prim", "string", is_keyword=True),
                Param("te_grad_kwargs", "expr", default=None, is_keyword=True)),
               _infer_declared, "Call a prim func whose gradient a named tensor expression gives.", see=_SEE,
               takes_type_args=True),
        OpSpec("relax.call_dps_packed", (FUNCTION, ARGUMENTS), _infer_declared,
               "Call a packed function that writes its results, which are allocated first.", see=_SEE,
               takes_type_args=True),
        OpSpec("relax.call_pure_packed", (FUNCTION, MORE_ARGUMENTS), _infer_declared_or_object,
               "Call a packed function that is promised to have no effects.", see=_SEE, takes_type_args=True),
        OpSpec("relax.call_inplace_packed", (FUNCTION, INPLACE_INDICES, MORE_ARGUMENTS), _infer_declared_or_object,
               "Call a packed function that writes only the named inputs, which are not used again.", see=_SEE,
               takes_type_args=True),
        OpSpec("relax.call_builtin_with_ctx", (FUNCTION, ARGUMENTS), _infer_declared_or_object,
               "Call a function of the virtual machine, which is its first argument.", is_pure=False, see=_SEE,
               takes_type_args=True),
        OpSpec("relax.make_closure", (FUNCTION, ARGUMENTS), _infer_closure,
               "Close a function over values, which become its last arguments.", see=_SEE),
        OpSpec("relax.invoke_closure", (_CLOSURE, ARGUMENTS), _infer_invoke, "Call a closure.", is_pure=False, see=_SEE,
               takes_type_args=True),
        OpSpec("relax.invoke_pure_closure", (_CLOSURE, ARGUMENTS), _infer_invoke,
               "Call a closure that is promised to have no effects.", see=_SEE, takes_type_args=True),
    ),
)  # fmt: skip
