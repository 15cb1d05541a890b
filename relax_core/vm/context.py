"""The interface of the machine towards builtins and packed functions."""

from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.source import Span
from relax_core.vm.objects.values import Array, Closure, StorageValue, Value
from relax_core.vm.stack import Frame


class Context(Protocol):
    """The running machine, seen from a builtin."""

    @property
    def executable(self) -> Executable:
        """The program."""
        ...

    @property
    def frames(self) -> Sequence[Frame]:
        """The calls that have not returned, the oldest first."""
        ...

    @property
    def slot_origins(self) -> dict[int, str]:
        """For each slot of the running function's shape heap that is set, the words for what set it."""
        ...

    @property
    def moment(self) -> int | None:
        """The number of the running event; `None` if nothing is recorded."""
        ...

    def allocate(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Make an uninitialised tensor; VM006 if it is too large."""
        ...

    def bytes_of(self, storage: StorageValue) -> Array:
        """Return the bytes of a storage, which are made for its first tensor."""
        ...

    def begin(self, tensor: Array) -> None:
        """Note that a tensor begins to live in a storage, whose bytes are not its value yet."""
        ...

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Charge memory that is about to be allocated; VM006 if it is too much. The rest is for the message."""
        ...

    def will_write(self, array: Array) -> None:
        """Remember what `array` holds: the running instruction is about to change it."""
        ...

    def write_output(self, text: str) -> None:
        """Print a line; VM007 if the output is too long."""
        ...

    def invoke(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure and wait for its result."""
        ...


def fail(
    code: str, message: str, hint: str = "", *, span: Span | None = None, related: tuple[tuple[str, Span], ...] = ()
) -> NoReturn:
    """Stop the program. The machine adds the place of the running instruction if `span` is `None`."""
    raise RunError((Diagnostic(code, message, span, hint, related=related),))


def context_words(err: str) -> Mapping[str, str]:
    """Split "ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,)))" into its parts.

    The context of a `match_cast` is "ErrorContext(match_cast, ty=...)"; its type is given as `annotation` too.
    """
    body = err.strip().removeprefix("ErrorContext(").removesuffix(")").strip()
    is_cast = body.startswith("match_cast")
    head, _, annotation = body.partition("=" if is_cast else "annotation=")
    pairs = (part.partition("=") for part in head.split(", ") if "=" in part)
    words = {key.strip(): value.strip(" ,") for key, _, value in pairs}
    return {**words, "annotation": annotation, **({"loc": "match_cast"} if is_cast else {})}


def place_words(err: str) -> str:
    """Say which value a check is about, such as "`x` of `main`"."""
    words = context_words(err)
    owner = words.get("fn", "")
    match words.get("loc"):
        case "match_cast":
            return "the value of `match_cast`"
        case "return":
            return f"the result of `{owner}`"
        case loc:
            what = f"`{words['param']}`" if words.get("param") else loc or "the value"
            return f"{what} of `{owner}`" if owner else what
