"""One function of Relay, in A-normal form, as a function of Relax."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.device.devices import HOST, Device, as_device_copy, declared_devices, device_number
from relax_core.analysis.relay_effects import Effects
from relax_core.diagnostics import Diagnostic
from relax_core.ir.attrs import NO_ATTRS
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    Call,
    Expr,
    ExternFunc,
    Function,
    FuncType,
    GlobalVar,
    If,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Clause, Constructor, Let, Match, RefCreate, RefRead, RefWrite
from relax_core.ir.rewriting.trampoline import Steps
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.derive import wrong_dtype
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax import to_relax
from relax_core.ops.spec import OpTypeError
from relax_core.passes.relay.to_relax.block import Block, Supply, number
from relax_core.passes.relay.to_relax.devices import copy_to, without_devices
from relax_core.passes.relay.to_relax.match import Matcher
from relax_core.passes.relay.to_relax.types import CALLABLE, erased, has_unknown_size, opened

GENERIC = FuncType(None, OBJECT)
_ON_NO_FLOATS = ("logical_", "bitwise_", "left_shift", "right_shift")

_HINT = "write it with other operators; `python -m relax_core ops` lists those of Relax"


@dataclass(slots=True)
class FunctionConverter:
    """What is known while a function is converted: Relay's types, what its variables became, what went wrong.

    `at` is what is being converted.

    Annotations of calls end here: passes on Relay read them, and the text of Relax has no place for them.
    """

    type_of: Mapping[Node, Type]
    tags: Mapping[str, int]
    effects: Effects
    supply: Supply
    globals: Mapping[str, GlobalVar]
    diagnostics: list[Diagnostic]
    atom_of: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    at: Expr | None = None

    def function(self, function: Function, outer: Block | None = None) -> Steps[Function]:
        """Return the function, local to `outer`, with erased types; unknown sizes of its parameters get names."""
        block = Block(self.supply) if outer is None else outer.inner(function, is_function=True)
        params: list[Var] = []
        devices, result_device = declared_devices(function)
        for param, device in zip(function.params, devices, strict=True):
            declared = self.type_of.get(param, OBJECT)
            type_ = self.on_device(opened(declared, self.supply.names), device)
            made = self.supply.ctx.derive(Var(self.supply.names.fresh(param.name), type_, span=param.span), param)
            self.supply.type_of[made] = type_
            self.atom_of[param] = made
            block.opened[made] = (made, type_)
            params.append(made)
        if function.type_params:
            names = ", ".join(item.name for item in function.type_params)
            self.supply.ctx.remark(function, "note", f"{names}: erased, values of these types are objects")
        signature = self.signature(function)
        result = yield self.body(function.body, block)
        body = block.sequence(block.cast(result, signature.ret, function.body), function.body)
        is_pure = self.effects.is_pure_function(function)
        ret = self.on_device(signature.ret, result_device)
        attrs = function.attrs if self.supply.places is None else without_devices(function.attrs)
        made_function = replace(
            function, params=tuple(params), body=body, ret_type=ret, attrs=attrs, is_pure=is_pure, type_params=()
        )
        return self.supply.ctx.derive(made_function, function)

    def on_device(self, type_: Type, device: Device | None) -> Type:
        """Return a type with its tensors on a device, if the program is planned."""
        return type_ if self.supply.places is None else self.supply.places.placed(type_, device)

    def signature(self, function: Expr) -> FuncType:
        """Return the erased parameters and result of a function of the module."""
        found = self.type_of.get(function)
        if isinstance(found, FuncType) and found.params is not None:
            return FuncType(tuple(map(erased, found.params)), erased(found.ret))
        return GENERIC

    def body(self, expr: Expr, block: Block) -> Steps[Expr]:
        """Convert lets and return the atom of the result."""
        while isinstance(expr, Let):
            yield self.let(expr, block)
            expr = expr.body
        return (yield self.value(expr, block, "gv"))

    def let(self, let: Let, block: Block) -> Steps[None]:
        self.at = let
        if isinstance(let.value, Function):
            var = Var(self.supply.names.fresh(let.var.name), span=let.var.span)
            self.atom_of[let.var] = var
            self.supply.type_of[var] = self.signature(let.value)
            made = yield self.function(let.value, block)
            block.bind(var, made, self.signature(let.value), let)
            return
        meant = self.meant(let.value)
        if isinstance(meant, Op):
            self.atom_of[let.var] = meant
            return
        atom = yield self.value(let.value, block, let.var.name)
        self.atom_of[let.var] = block.cast(atom, self.relay_type(let.var), let)

    def meant(self, expr: Expr) -> Expr:
        """Return the operator that a variable is bound to: each call applies it anew; else the expression itself."""
        found = self.atom_of.get(expr) if isinstance(expr, Var) else None
        return found if isinstance(found, Op) else expr

    def relay_type(self, expr: Node) -> Type:
        """Return the erased type of a node, on its device if the program is planned."""
        type_ = erased(self.type_of.get(expr, OBJECT))
        return type_ if self.supply.places is None else self.on_device(type_, self.supply.places.plan.device(expr))

    def value(self, expr: Expr, block: Block, hint: str) -> Steps[Expr]:
        """Convert the value of a let; return its atom."""
        self.at = self.at if isinstance(expr, Var) else expr
        match expr:
            case If(condition=condition, true_branch=yes, false_branch=no):
                wanted = self.relay_type(expr)
                test = self.atom(condition, block)
                branches: list[Expr] = []
                for branch in (yes, no):
                    inner = block.inner(branch)
                    result = yield self.body(branch, inner)
                    branches.append(inner.sequence(inner.cast(result, wanted, branch), branch))
                return block.emit(If(test, *branches, span=expr.span), wanted, expr, hint)
            case Match(value=value):
                given = self.atom(value, block)
                self.explain_match(expr)
                return (yield self.clauses(expr, expr.clauses, given, block))
            case Function():
                made = yield self.function(expr, block)
                return block.emit(made, self.signature(expr), expr, hint)
            case Call():
                return self.call(expr, block, hint)
            case _:
                return self.simple(expr, block, hint)

    def clauses(self, expr: Match, clauses: tuple[Clause, ...], given: Expr, block: Block) -> Steps[Expr]:
        """Try `clauses` in order; the last of a complete match is taken without a test."""
        wanted = self.relay_type(expr)
        if not clauses:
            return block.packed("vm.builtin.match_failed", (given,), wanted, expr)
        clause, *rest = clauses
        matcher = self.matcher(expr, clause)
        test = None if self.is_sure(expr, clauses) else matcher.test(clause.pattern, given, block)
        inner = block if test is None else block.inner(clause)
        self.atom_of.update(matcher.take(clause.pattern, given, inner))
        result = inner.cast((yield self.body(clause.body, inner)), wanted, clause.body)
        if test is None:
            return result
        other = block.inner(clause)
        rest_result = yield self.clauses(expr, tuple(rest), given, other)
        returned = rest[0].body if rest and self.is_sure(expr, tuple(rest)) else expr
        no = other.sequence(other.cast(rest_result, wanted, expr), returned, at=expr)
        choice = If(test, inner.sequence(result, clause.body), no, span=clause.span)
        return block.emit(choice, wanted, clause)

    def matcher(self, expr: Match, clause: Clause) -> Matcher:
        places = self.supply.places
        device = None if places is None else places.plan.device(expr.value)
        return Matcher(self.type_of, self.tags, clause, lambda type_: self.on_device(type_, device))

    def is_sure(self, expr: Match, clauses: tuple[Clause, ...]) -> bool:
        """Tell whether the first of the clauses that are left takes every value that comes to it."""
        is_last = expr.is_complete and len(clauses) == 1
        return is_last or self.matcher(expr, clauses[0]).is_irrefutable(clauses[0].pattern)

    def explain_match(self, expr: Match) -> None:
        """Say how many tests a match became, and what a value meets that no clause takes."""
        rest = "the last is taken without a test" if expr.is_complete else "a value that none takes stops the run"
        count = "one clause" if len(expr.clauses) == 1 else f"{len(expr.clauses)} clauses"
        self.supply.ctx.remark(expr, "applied", f"{count}, tested in order by the tag of the value; {rest}")

    def simple(self, expr: Expr, block: Block, hint: str) -> Expr:
        """Convert what is neither a choice, nor a call, nor a function."""
        match expr:
            case Tuple(fields=fields):
                atoms = tuple(self.atom(item, block) for item in fields)
                type_ = TupleType(tuple(map(self.supply.known, atoms)))
                return block.emit(replace(expr, fields=atoms), type_, expr, hint)
            case TupleGetItem(tuple_value=inner, index=index):
                whole = self.atom(inner, block)
                whole = block.cast(whole, self.relay_type(inner), expr)
                known = self.supply.known(whole)
                # What could not be converted stands as an empty tuple.
                fields = known.fields if isinstance(known, TupleType) else ()
                field_type = fields[index] if index < len(fields) else OBJECT
                return block.emit(TupleGetItem(whole, index, span=expr.span), field_type, expr, hint)
            case RefCreate(value=inner):
                return block.effect("vm.builtin.ref_create", (self.atom(inner, block),), OBJECT, expr, hint=hint)
            case RefRead(ref=ref):
                target = self.atom(ref, block)
                return block.effect("vm.builtin.ref_read", (target,), self.relay_type(expr), expr, hint=hint)
            case RefWrite(ref=ref, value=inner):
                args = (self.atom(ref, block), self.atom(inner, block))
                return block.effect("vm.builtin.ref_write", args, VOID, expr, hint=hint)
            case _:
                return self.atom(expr, block)

    def unbound(self, var: Var) -> Expr:
        """Report a variable that nothing binds, once."""
        hint = "bind it with let, or make it a parameter"
        places = (self.supply.ctx.locate(node) for node in (var, self.at) if node is not None)
        span = next((place for place in places if place is not None), None)
        self.diagnostics.append(Diagnostic("RY030", f"nothing binds %{var.name}", span, hint))
        self.atom_of[var] = Tuple(())
        return self.atom_of[var]

    def atom(self, expr: Expr, block: Block) -> Expr:
        """Return what an atom became; operators and constructors as values become functions."""
        expr = self.meant(expr)
        match expr:
            case Var():
                # PartitionGraph on lets as reported leaves variables that nothing binds.
                return self.atom_of.get(expr) or self.unbound(expr)
            case Constructor(field_types=()):
                return block.data(expr, self.tags[expr.name], (), expr)
            case Op() | Constructor():
                return self.expanded(expr, block)
            case GlobalVar(name=name):
                return self.globals.get(name, expr)
            case _:
                return expr

    def expanded(self, expr: Op | Constructor, block: Block) -> Expr:
        """Return a function that calls the operator or constructor `expr`."""
        found = self.type_of.get(expr)
        spec = RELAY_OPS.get(expr.name)
        least = len(spec.params) - spec.optional_count if spec is not None else 0
        some = (OBJECT,) * len(expr.field_types) if isinstance(expr, Constructor) else (TensorType(),) * least
        types = found.params if isinstance(found, FuncType) and found.params else some
        inner = block.inner(expr, is_function=True)
        params: list[Var] = []
        for type_ in types:
            name = self.supply.names.fresh("arg")
            param = Var(name, opened(type_, self.supply.names), span=expr.span)
            self.supply.type_of[param] = param.annotation or OBJECT
            inner.opened[param] = (param, param.annotation or OBJECT)
            params.append(param)
        if isinstance(expr, Constructor):
            result: Expr = inner.data(expr, self.tags[expr.name], tuple(params), expr)
        else:
            result = self.operator(Call(expr, tuple(params), span=expr.span), (tuple(params), types), inner, "gv")
        body = inner.sequence(result, expr)
        ret = self.supply.known(result)
        made = Function(tuple(params), body, ret, span=expr.span)
        param_types = tuple(param.annotation or OBJECT for param in params)
        return block.emit(made, FuncType(param_types, ret), expr, expr.name.rpartition(".")[2].lower())

    def call(self, call: Call, block: Block, hint: str) -> Expr:
        match self.meant(call.op):
            case Op() as operator:
                args = tuple(self.atom(item, block) for item in call.args)
                types = tuple(self.type_of.get(item, OBJECT) for item in call.args)
                call = call if call.op is operator else self.supply.ctx.derive(replace(call, op=operator), call)
                return self.operator(call, (args, types), block, hint)
            case Constructor() as constructor:
                fields = tuple(self.atom(item, block) for item in call.args)
                return block.data(constructor, self.tags[constructor.name], fields, call)
            case GlobalVar() as var:
                callee, signature = self.atom(var, block), self.signature(var)
            case _:
                callee = block.cast(self.atom(call.op, block), CALLABLE, call)
                known = self.supply.known(callee)
                signature = known if isinstance(known, FuncType) else GENERIC
        args = tuple(self.atom(item, block) for item in call.args)
        if signature.params is not None:
            if len(signature.params) != len(args):
                message = f"the function takes {len(signature.params)} arguments, got {len(args)}"
                self.supply.ctx.fail("RY002", message, call, "an operator as a value takes all its arguments")
            args = tuple(block.cast(arg, type_, call) for arg, type_ in zip(args, signature.params, strict=True))
        atom = block.emit(replace(call, op=callee, args=args, attrs=NO_ATTRS, type_args=()), signature.ret, call, hint)
        return block.cast(atom, self.relay_type(call), call)

    def operator(
        self, call: Call, operands: tuple[tuple[Expr, ...], tuple[Type, ...]], block: Block, hint: str
    ) -> Expr:
        """Convert a call of an operator to what Relax computes it by."""
        assert isinstance(call.op, Op), "the caller has seen to it"
        name, (args, types) = call.op.name, operands
        spec = RELAY_OPS.get(name)
        if spec is not None and spec.is_identity:
            return self.identity(call, args[0], block, hint)
        pairs = [self.sized(arg, type_, call, block) for arg, type_ in zip(args, types, strict=True)]
        attrs = dict(call.attrs) if spec is None else spec.with_defaults(dict(call.attrs))
        literals = tuple(item for item, _ in pairs)
        asked = RelayCall(name, tuple(type_ for _, type_ in pairs), attrs, literals)
        try:
            made = to_relax(asked)
        except OpTypeError as error:
            return self.refused(call, error)
        if self.is_odd(asked):
            error = wrong_dtype(asked, made)
            if error is not None:
                return self.refused(call, error)
        if made in literals:
            return made
        self.explain(call, made)
        made = block.with_shared(made, call)
        if made.span is None:
            made = replace(made, span=call.span)
        var = block.emit(made, self.relay_type(call), call, hint)
        places = self.supply.places
        device = places.missing(call, args) if places is not None and isinstance(made, Call) else None
        if device is None or not isinstance(self.supply.known(var), TensorType):
            return var
        return block.emit(copy_to(var, device, call), self.relay_type(call), call, hint)

    def is_odd(self, asked: RelayCall) -> bool:
        """Tell whether an operator may be one that Relax does not define for its first argument's dtype."""
        first = next(iter(asked.args), None)
        is_float = isinstance(first, TensorType) and (first.dtype is None or "float" in first.dtype)
        return not is_float or asked.name.startswith(_ON_NO_FLOATS)

    def refused(self, call: Call, error: OpTypeError) -> Expr:
        """Note that Relax cannot express a call; an empty tuple stands for it."""
        span = self.supply.ctx.locate(call)
        self.diagnostics.append(Diagnostic("PS011", error.message, span, error.hint or _HINT))
        return Tuple(())

    def explain(self, call: Call, made: Expr) -> None:
        """Say what an operator became, if it is not the one of the same name."""
        parts = [item.op.name for item in postorder(made) if isinstance(item, Call) and isinstance(item.op, Op)]
        names = [f"R.{name.removeprefix('relax.')}" for name in parts]
        if isinstance(call.op, Op) and names != [f"R.{call.op.name}"]:
            different = ", ".join(dict.fromkeys(names))
            self.supply.ctx.remark(call, "applied", f"{call.op.name} becomes {different}")

    def sized(self, arg: Expr, type_: Type, call: Call, block: Block) -> tuple[Expr, Type]:
        """Return an operand whose unknown sizes have names, and its type."""
        if not has_unknown_size(type_):
            return block.cast(arg, erased(type_), call), type_
        found = block.find_opened(arg)
        if found is None or not isinstance(found[1], TensorType) or found[1].dims is None:
            wanted = opened(type_, self.supply.names)
            found = (block.cast(arg, wanted, call), wanted)
            block.opened[arg] = found
        return found

    def identity(self, call: Call, arg: Expr, block: Block, hint: str) -> Expr:
        """A copy between devices is a step that the machine shows; other annotations are their argument."""
        copy = as_device_copy(call)
        if copy is None:
            return arg
        type_ = self.relay_type(call)
        if self.supply.places is not None and copy.target is not None and isinstance(type_, TensorType):
            return block.emit(copy_to(arg, copy.target, call), type_, call, hint)
        kind, index = device_number(copy.target or HOST)
        args = (arg, number(kind), number(index))
        callee = (ExternFunc("vm.builtin.to_device"), *args)
        made = Call(Op("relax.call_pure_packed"), callee, NO_ATTRS, (type_,), span=call.span)
        return block.emit(made, type_, call, hint)
