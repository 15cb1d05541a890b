"""Programs whose devices are known: what each variable is on, and which copies there are; the default is cuda.

In the texts `T` is a tensor type. The names are those of what the tests of the last Relay are about.
"""

import re
from dataclasses import dataclass

TENSOR = "Tensor[(5, 7), float32]"
FOUR = "%a: T, %b: T, %c: T, %d: T"
TWO = "%x: T, %y: T"


@dataclass(frozen=True, slots=True)
class Case:
    """A module as text, `name=device` for the variables of @main, and the copies as `value: from>to`."""

    name: str
    text: str
    devices: str
    copies: tuple[str, ...] = ()
    runs: bool = True


def main(params: str, body: str, before: str = "") -> str:
    """Return the text of a module."""
    return re.sub(r"\bT\b", TENSOR, f'#[version = "0.0.5"]\n{before}\ndef @main({params}) {{ {body} }}\n')


def on(device: int, value: str, *, fixed: bool = False) -> str:
    """Return an annotation."""
    return f"on_device({value}, device_type={device}{', is_fixed=True' if fixed else ''})"


def cpu(value: str, *, fixed: bool = False) -> str:
    """Return an annotation with the CPU."""
    return on(1, value, fixed=fixed)


def cuda(value: str, *, fixed: bool = False) -> str:
    """Return an annotation with the GPU."""
    return on(2, value, fixed=fixed)


COPY = "device_copy({0}, src_dev_type={1}, dst_dev_type={2})"
SECOND = "VirtualDevice(device_type=2, virtual_device_id=1)"
TO_GPU, TO_CPU = "cpu(0)>cuda(0)", "cuda(0)>cpu(0)"
ON_GPU = "a=cuda b=cuda c=cuda d=cuda result=cuda"
LEFT = "a=cpu b=cpu c=cuda d=cuda result=cuda"
ALL_CPU = "a=cpu b=cpu c=cpu d=cpu result=cpu"
LET = "let %f = fn ({0}) {{ {1} }}; "

CASES = (
    Case("plain", main(FOUR, "subtract(add(%a, %b), add(%c, %d))"), ON_GPU),
    Case("left add on cpu", main(FOUR, f"subtract({cpu('add(%a, %b)')}, add(%c, %d))"), LEFT, (f"add: {TO_GPU}",)),
    Case(
        "left add on cpu by a copy",
        main(FOUR, f"subtract({COPY.format('add(%a, %b)', 1, 2)}, add(%c, %d))"),
        LEFT,
        (f"add: {TO_GPU}",),
    ),
    Case(
        "both adds on cpu",
        main(FOUR, f"subtract({cpu('add(%a, %b)')}, {cpu('add(%c, %d)')})"),
        "a=cpu b=cpu c=cpu d=cpu result=cuda",
        (f"add: {TO_GPU}",) * 2,
    ),
    Case(
        "sharing",
        main("%a: T, %b: T", f"%0 = add(%a, %b); subtract({cpu('%0')}, {cpu('%0')})"),
        "a=cpu b=cpu result=cuda",
        (f"add: {TO_GPU}",) * 2,
    ),
    Case(
        "let on cpu",
        main(FOUR, f"let %l = add(%a, %b); let %r = add(%c, %d); subtract({cpu('%l')}, %r)"),
        f"{LEFT} l=cpu r=cuda",
        (f"%l: {TO_GPU}",),
    ),
    Case("annotated let", main(FOUR, f"let %l = {cpu('add(%a, %b)')}; subtract(%l, add(%c, %d))"), f"{ALL_CPU} l=cpu"),
    Case(
        "func param on cpu",
        main(FOUR, LET.format(TWO, f"{cpu('add(%x, %y)')}") + "subtract(%f(%a, %b), add(%c, %d))"),
        f"{ALL_CPU} x=cpu y=cpu",
    ),
    Case(
        "func result on cpu",
        main(FOUR, LET.format(TWO, "add(%x, %y)") + f"subtract({cpu('%f(%a, %b)')}, add(%c, %d))"),
        f"{LEFT} x=cpu y=cpu",
        (f"%f: {TO_GPU}",),
    ),
    Case(
        "higher order",
        main(
            TWO,
            "(@f(negative))(%x)",
            "def @f(%g: fn (T) -> T) -> fn (T) -> T { fn (%a: T) -> T { add(%g(%a), %a) } }\n",
        ),
        "x=cuda result=cuda",
    ),
    Case(
        "higher order on cpu",
        main(TWO, cpu("@f(negative, %x)"), "def @f(%g: fn (T) -> T, %v: T) -> T { %g(%g(%v)) }\n"),
        "x=cpu result=cpu y=cpu",
    ),
    Case(
        "function in tuple",
        main(
            TWO, f"let %f = fn (%p: T, %q: T) {{ add(%p, {cpu('%q', fixed=True)}) }}; let %t = (%f, %x); %t.0(%t.1, %y)"
        ),
        "x=cpu y=cpu p=cpu q=cpu t=cpu result=cpu",
    ),
    Case("device copy", main("%x: T", COPY.format("%x", 2, 1)), "x=cuda result=cpu", (f"%x: {TO_CPU}",)),
    Case(
        "chain of copies",
        main("%x: T", COPY.format(COPY.format("%x", 1, 2), 2, 1)),
        "x=cpu result=cpu",
        (f"device_copy: {TO_CPU}", f"%x: {TO_GPU}"),
    ),
    Case(
        "a copy of what is elsewhere",
        main("%x: T", COPY.format(cuda("%x", fixed=True), 1, 2)),
        "x=cuda result=cuda",
        (f"on_device: {TO_CPU}", f"on_device: {TO_GPU}"),
    ),
    Case("copy to the same device", main("%x: T", COPY.format("%x", 1, 1)), "x=cpu result=cpu"),
    Case(
        "shape of",
        main("%x: Tensor[(?, ?), float32]", f"vm.shape_of({cuda('%x', fixed=True)})"),
        "x=cuda result=cpu",
        runs=False,
    ),
    Case(
        "shape of a free value", main("%x: Tensor[(?, ?), float32]", "vm.shape_of(%x)"), "x=cpu result=cpu", runs=False
    ),
    Case(
        "shape of on cpu",
        main("%x: Tensor[(?, ?), float32]", f"vm.shape_of({cpu('%x', fixed=True)})"),
        "x=cpu result=cpu",
        runs=False,
    ),
    Case(
        "alloc storage",
        main(
            "%size: int64, %align: int64",
            "memory.alloc_storage(%size, %align, virtual_device=VirtualDevice(device_type=2))",
        ),
        "size=cpu align=cpu result=cuda",
        runs=False,
    ),
    Case(
        "alloc tensor",
        main("%s: Storage[], %shape: Tensor[(1,), int64]", "memory.alloc_tensor(%s, 0i64, %shape, const_shape=[1])"),
        "s=cuda shape=cpu result=cuda",
        runs=False,
    ),
    Case(
        "shape func",
        main(
            "%x: Tensor[(?,), float32], %shape: Tensor[(1,), int64]",
            "vm.shape_func(fn (%p: Tensor[(?,), float32], Primitive=1) -> Tensor[(?,), float32] { negative(%p) }, "
            "(vm.shape_of(%x),), (%shape,), is_input=[False])",
        ),
        "x=cpu shape=cpu result=cpu",
        runs=False,
    ),
    Case(
        "invoke",
        main(
            f"%in: {TENSOR}, %out: {TENSOR}",
            f"vm.invoke_tvm_op(fn (%p: T, Primitive=1) -> T {{ negative(%p) }}, ({cpu('%in', fixed=True)},), (%out,))",
        ),
        "in=cpu out=cpu result=cpu",
        runs=False,
    ),
    Case(
        "reshape tensor",
        main(
            "%x: Tensor[(2, 8), float32], %shape: Tensor[(1,), int64]", "vm.reshape_tensor(%x, %shape, newshape=[16])"
        ),
        "x=cuda shape=cpu result=cuda",
        runs=False,
    ),
    Case(
        "dynamic input",
        main("%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32]", "add(%x, %y)"),
        "x=cuda y=cuda result=cuda",
        runs=False,
    ),
    Case(
        "redundant annotation",
        main("%a: T, %b: T, %c: T", f"%0 = add(%a, %b); subtract(subtract({cpu('%0')}, %c), {cpu('%0')})"),
        "a=cpu b=cpu c=cuda result=cuda",
        (f"add: {TO_GPU}",) * 2,
    ),
    Case(
        "annotate an expression",
        main("%x: T, %y: T, %z: T", f"sqrt(subtract({cuda('add(%x, %y)')}, %z))"),
        "x=cuda y=cuda z=cuda result=cuda",
    ),
    Case(
        "annotate all",
        main("%x: T, %y: T, %z: T", cpu(f"subtract({cpu('add(%x, %y)')}, %z)")),
        "x=cpu y=cpu z=cpu result=cpu",
    ),
    Case("annotate none", main("%x: T, %y: T, %z: T", "subtract(add(%x, %y), %z)"), "x=cuda y=cuda z=cuda result=cuda"),
    Case(
        "conv network",
        main(
            "%x: Tensor[(1, 4, 8, 8), float32], %y: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]",
            "%0 = nn.conv2d(%x, %w, channels=4, kernel_size=[1, 1]); "
            "%1 = nn.conv2d(%y, %w, channels=4, kernel_size=[1, 1]); "
            f"%2 = add({cpu('%0')}, {cpu('%1')}); "
            f"%3 = nn.conv2d({cuda('%2')}, %w, channels=4, kernel_size=[1, 1]); {cpu('%3')}",
        ),
        "x=cpu y=cpu w=cpu result=cpu",
        (f"add: {TO_CPU}", f"nn.conv2d: {TO_GPU}", f"nn.conv2d: {TO_GPU}"),
    ),
    Case(
        "tuple get item",
        main(
            "%x: Tensor[(3, 3, 4), float32]",
            f"let %t = split(%x, indices_or_sections=3); subtract(({cpu('%t')}).0, ({cpu('%t')}).1)",
        ),
        "x=cpu t=cpu result=cuda",
        (f"projection: {TO_GPU}",) * 2,
    ),
    Case(
        "projection before the copy",
        main("%x: Tensor[(3, 3, 4), float32]", f"({cpu('split(%x, indices_or_sections=3)')}).0"),
        "x=cpu result=cpu",
    ),
    Case(
        "propagation",
        main(
            "%x: T",
            f"%0 = {cpu('negative(%x)')}; %1 = {cpu('negative(%0)')}; %2 = {cuda('negative(%0)')}; "
            f"%3 = {cuda('add(%1, %2)')}; %4 = {cpu('negative(%3)')}; {cpu('negative(%4)')}",
        ),
        "x=cpu result=cpu",
        (f"add: {TO_CPU}", f"negative: {TO_GPU}", f"on_device: {TO_GPU}"),
    ),
    Case(
        "fusible network",
        main(TWO, f"%0 = add(%x, %y); %1 = sqrt({cuda('%0')}); %2 = log({cuda('%0')}); {cpu('exp(subtract(%1, %2))')}"),
        "x=cuda y=cuda result=cpu",
        (f"add: {TO_CPU}",) * 2,
    ),
    Case(
        "unpropagatable graph",
        main(FOUR, f"%0 = {cuda('add(%a, %b)')}; %1 = {cpu('multiply(%c, %d)')}; {cpu('subtract(%0, %1)')}"),
        "a=cuda b=cuda c=cpu d=cpu result=cpu",
        (f"add: {TO_CPU}",),
    ),
    Case(
        "conditional",
        main(
            "%x: bool, %y: T, %z: T",
            f"let %f = fn (%a: T) {{ add(%a, {cpu('%y', fixed=True)}) }}; let %g = fn (%b: T) {{ subtract(%b, %y) }}; "
            "let %h = if (%x) { %f } else { %g }; %h(%z)",
        ),
        "x=cpu y=cpu z=cpu a=cpu b=cpu result=cpu",
    ),
    Case(
        "global",
        main(TWO, "@f(%y, %x)", f"def @f(%a: T, %b: T) -> T {{ add(%a, {cpu('%b', fixed=True)}) }}\n"),
        "x=cpu y=cpu result=cpu",
    ),
    Case(
        "reference",
        main(TWO, f"let %r = ref({cpu('%x', fixed=True)}); ref_write(%r, %y); add(%x, ref_read(%r))"),
        "x=cpu y=cpu r=cpu result=cpu",
    ),
    Case(
        "data type",
        main(
            TWO,
            f"let %l = Cons({cpu('%x', fixed=True)}, Nil); let %m = Cons(%y, %l); match? (%m) {{ Cons(%z, _) => %z, }}",
            "type List[A] { Cons(A, List[A]), Nil, }\n",
        ),
        "x=cpu y=cpu l=cpu m=cpu z=cpu result=cpu",
    ),
    Case(
        "what a clause takes out",
        main(
            TWO,
            f"let %o = Som({cuda('%y', fixed=True)}); "
            f"let %v = match (%o) {{ Som(%q) => negative(%q), Non => {cuda('%y', fixed=True)} }}; "
            f"subtract({cpu('%x', fixed=True)}, {cuda('exp(%v)')})",
            "type Opt[A] { Som(A), Non }\n",
        ),
        "x=cpu y=cuda o=cuda q=cuda v=cuda result=cpu",
        (f"exp: {TO_CPU}",),
    ),
    Case(
        "what a reference holds",
        main(
            TWO,
            f"let %r = ref({cuda('%y', fixed=True)}); add({cpu('%x', fixed=True)}, {cuda('negative(ref_read(%r))')})",
        ),
        "x=cpu y=cuda r=cuda result=cpu",
        (f"negative: {TO_CPU}",),
    ),
    Case(
        "branches on one device",
        main(
            f"%t: bool, {TWO}",
            f"let %v = if (%t) {{ {cuda('%x', fixed=True)} }} else {{ {cuda('%y', fixed=True)} }}; "
            + cpu(f"exp({cuda('sigmoid(%v)')})", fixed=True),
        ),
        "t=cuda x=cuda y=cuda v=cuda result=cpu",
        (f"sigmoid: {TO_CPU}",),
    ),
    Case(
        "free on device",
        main(
            TWO,
            "let %f = fn (%p: T) { on_device(%p, virtual_device=VirtualDevice(device_type=0)) }; "
            f"add(%f(%x), {cpu('%y', fixed=True)})",
        ),
        "x=cpu y=cpu p=cpu result=cpu",
    ),
    Case(
        "primitive",
        main(TWO, f"let %p = fn (%q: T, Primitive=1) -> T {{ negative(%q) }}; subtract({cpu('%p(%x)')}, %p(%y))"),
        "x=cpu y=cuda result=cuda",
        (f"%p: {TO_GPU}",),
    ),
    Case(
        "lowered",
        main(
            TWO,
            f"call_lowered(@k, ({cpu('%x', fixed=True)}, %y))",
            "def @k(%p: T, %q: T, Primitive=1) -> T { add(%p, %q) }\n",
        ),
        "x=cpu y=cpu result=cpu",
        runs=False,
    ),
    Case(
        "one input on two devices",
        main("%x: T", f"%0 = {cpu('negative(%x)')}; %1 = {cuda('negative(%x)')}; add(%0, %1)"),
        "x=cpu result=cuda",
        (f"negative: {TO_GPU}", f"%x: {TO_GPU}"),
    ),
    Case(
        "annotated parameter",
        main("%x {virtual_device=VirtualDevice(device_type=1)}: T, %y: T", "add(%x, %y)"),
        "x=cpu y=cpu result=cpu",
    ),
    Case(
        "parameter and result on two devices",
        main(
            "%x {virtual_device=VirtualDevice(device_type=1)}: T, virtual_device=VirtualDevice(device_type=2)",
            "negative(%x)",
        ),
        "x=cpu result=cuda",
        (f"%x: {TO_GPU}",),
    ),
    Case(
        "second device of a kind", main("%x: T", f"on_device(%x, virtual_device={SECOND})"), "x=cuda(1) result=cuda(1)"
    ),
    Case(
        "recursion",
        main(
            "%x: T, %n: int32",
            f"@loop({cpu('%x', fixed=True)}, %n)",
            "def @loop(%x: T, %n: int32) -> T {\nif (%n < 1) { %x } else { @loop(negative(%x), %n - 1) } }\n",
        ),
        "x=cpu n=cpu result=cpu",
        runs=False,
    ),
    Case("constant", main("%x: T", cpu("add(%x, 1f)")), "x=cpu result=cpu"),
    Case("identity", main("%x: T", "%x"), "x=cuda result=cuda"),
    Case("unused parameter", main(TWO, cpu("%x")), "x=cpu y=cpu result=cpu"),
    Case("operator as a value", main("%x: T", f"let %f = negative; {cpu('%f(%x)')}"), "x=cpu result=cpu"),
)
