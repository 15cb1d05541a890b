"""Type inference: the side table of types of a module, with symbolic shapes."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType
from weakref import WeakKeyDictionary

from relax_core.check.expressions import result_type, type_of
from relax_core.check.inference import Inference
from relax_core.check.kept.alike import AlikeCalls
from relax_core.check.order import called_globals, components
from relax_core.check.relay import infer as relay
from relax_core.check.size import bounded
from relax_core.check.typing_context import NOTHING_EARLIER, Earlier, Signature, TypingContext, declared_signature
from relax_core.check.unify import UNKNOWN, contradiction, is_unknown
from relax_core.diagnostics import Diagnostic
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import OBJECT, Binding, Function, FuncType, GlobalVar, Type
from relax_core.ir.module import BaseFunc, IRModule
from relax_core.ir.node import Node
from relax_core.ir.tir import PrimFunc


@dataclass(frozen=True, slots=True)
class _Typed:
    """What typing one function gave, and the signatures of the globals that it rests on."""

    rests_on: tuple[tuple[str, Signature | None], ...]
    type_of: Mapping[Node, Type]
    bindings: AbstractSet[Binding]
    alike: AlikeCalls
    signature: FuncType
    diagnostics: tuple[Diagnostic, ...]


class Inferencer:
    """Types modules; remembers by module, and per function while the signatures that it uses stay the same.

    The memo of a function holds the signature of every global in it, compared by identity: a function that a pass
    has rebuilt is another key, and a callee whose signature is another object makes its callers be typed again.
    """

    def __init__(self) -> None:
        self._of_module: WeakKeyDictionary[IRModule, Inference] = WeakKeyDictionary()
        self._of_function: WeakKeyDictionary[Function, _Typed] = WeakKeyDictionary()
        self._called_by: WeakKeyDictionary[BaseFunc, tuple[GlobalVar, ...]] = WeakKeyDictionary()
        self._is_pure_of: WeakKeyDictionary[PrimFunc, bool] = WeakKeyDictionary()

    def infer(self, module: IRModule, before: Iterable[IRModule] = ()) -> Inference:
        """Return the types of a Relax or Relay module; see `infer`.

        Complexity: linear in its size, but for recursion without declared types.
        """
        found = self._of_module.get(module)
        if found is None:
            found = relay.infer_relay(module) if dialect_of(module) == "relay" else self._infer(module, tuple(before))
            self._of_module[module] = found
        return found

    def _infer(self, module: IRModule, before: tuple[IRModule, ...]) -> Inference:
        signature_of = _declared_signatures(module)
        typed: dict[GlobalVar, _Typed] = {}
        for group in self._groups(module):
            typed.update(self._group(module, group, signature_of, before))
        types: dict[Node, Type] = {}
        diagnostics: list[Diagnostic] = []
        for definition in module:
            entry = typed.get(definition.var)
            if entry is None:
                # A call of it, which may name it by the same node, has found whether it is pure.
                types.setdefault(definition.var, FuncType(None, OBJECT, is_pure=False))
                continue
            types.update(entry.type_of)
            types[definition.var] = types[definition.function] = entry.signature
            diagnostics.extend(entry.diagnostics)
        return Inference(MappingProxyType(types), tuple(diagnostics))

    def _groups(self, module: IRModule) -> tuple[tuple[GlobalVar, ...], ...]:
        """Return the functions to type in order, those that call each other together."""
        relax = module.relax_functions
        # One alone waits for no other, whatever it calls.
        return ((relax[0][0],),) if len(relax) == 1 else components(module, self._called)

    def _group(
        self,
        module: IRModule,
        group: tuple[GlobalVar, ...],
        signature_of: dict[str, Signature],
        before: tuple[IRModule, ...],
    ) -> dict[GlobalVar, _Typed]:
        """Type functions that call each other; those without a declared result get one by iteration."""
        functions = {var: item.function for item in module if (var := item.var) in group}
        relax = {var: function for var, function in functions.items() if isinstance(function, Function)}
        open_vars = [var for var, function in relax.items() if function.ret_type is None]
        if not open_vars or not self._is_recursive(relax):
            return {var: self._one(var, function, signature_of, before) for var, function in relax.items()}
        for var in open_vars:
            signature_of[var.name] = declared_signature(relax[var], UNKNOWN)
        first = {var: self._typed(var, relax[var], dict(signature_of)) for var in open_vars}
        for var, entry in first.items():
            signature_of[var.name] = entry.signature if not is_unknown(entry.signature.ret) else _any(entry.signature)
        second = {var: self._typed(var, relax[var], dict(signature_of)) for var in open_vars}
        for var, entry in second.items():
            if contradiction(entry.signature.ret, first[var].signature.ret) is not None:
                signature_of[var.name] = _any(entry.signature)
        return {var: self._typed(var, function, signature_of) for var, function in relax.items()}

    def _is_recursive(self, functions: Mapping[GlobalVar, Function]) -> bool:
        names = {var.name for var in functions}
        return any(used.name in names for function in functions.values() for used in self._called(function))

    def _called(self, function: BaseFunc) -> tuple[GlobalVar, ...]:
        found = self._called_by.get(function)
        if found is None:
            found = self._called_by[function] = called_globals(function)
        return found

    def _one(
        self, var: GlobalVar, function: Function, signature_of: dict[str, Signature], before: tuple[IRModule, ...]
    ) -> _Typed:
        entry = self._of_function.get(function)
        if entry is None or any(signature_of.get(name) is not signature for name, signature in entry.rests_on):
            entry = self._typed(var, function, signature_of, self._earlier(var, function, before))
            self._of_function[function] = entry
        signature_of[var.name] = entry.signature
        return entry

    def _earlier(self, var: GlobalVar, function: Function, before: tuple[IRModule, ...]) -> Earlier:
        """Return what the latest form of a function that was typed gave, nothing if that had errors."""
        forms = (definition.function for module in before if (definition := module.find(var.name)) is not None)
        typed = (self._of_function.get(item) for item in forms if isinstance(item, Function) and item is not function)
        latest = next(filter(None, typed), None)
        if latest is None or latest.diagnostics:
            return NOTHING_EARLIER
        return Earlier(latest.type_of, dict(latest.rests_on), latest.bindings, latest.alike)

    def _typed(
        self,
        var: GlobalVar,
        function: Function,
        signature_of: dict[str, Signature],
        earlier: Earlier = NOTHING_EARLIER,
    ) -> _Typed:
        context = TypingContext(
            signature_of, var.name, fallback=function, is_pure_of=self._is_pure_of, earlier=earlier,
            alike=earlier.alike or AlikeCalls(),
        )  # fmt: skip
        params = tuple(context.declare(param) for param in function.params)
        symbols = dict(context.symbols)
        body = type_of(context, function.body)
        ret = result_type(context, function, body, symbols)
        signature = bounded(FuncType(params, ret, function.is_pure))
        assert isinstance(signature, FuncType), "a bounded function type is one"
        rests_on = tuple((name, signature_of.get(name)) for name in context.used_globals if name != var.name)
        types = MappingProxyType(context.type_of)
        return _Typed(rests_on, types, context.bindings, context.alike, signature, tuple(context.diagnostics))


def _any(signature: FuncType) -> FuncType:
    return replace(signature, ret=OBJECT)


def _declared_signatures(module: IRModule) -> dict[str, Signature]:
    """Return by name the prim funcs and the types of the functions that declare their result."""
    found: dict[str, Signature] = {}
    for item in module:
        match item.function:
            case PrimFunc() as prim_func:
                found[item.var.name] = prim_func
            case Function(ret_type=ret) as function if ret is not None:
                found[item.var.name] = declared_signature(function, ret)
            case _:
                pass
    return found


_INFERENCER = Inferencer()


def infer(module: IRModule, before: Iterable[IRModule] = ()) -> Inference:
    """Return the types of `module`, remembered while the module lives.

    `before` are modules that it was made from, the latest first. Calls that did not change since the latest that was
    typed keep their types, so that typing what a pass made takes the time of what it changed.
    """
    return _INFERENCER.infer(module, before)
