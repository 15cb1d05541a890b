"""The plainest spelling of types and of operator calls, as patterns of their words.

`R.Tensor((n, 4), dtype="float32")` and `R.take(x, lv, axis=0, mode="fast")` are as TVM prints them, on one line.
Making these patterns ready takes longer than reading a short text without them.

Of groups none is repeated possessively: early releases of Python 3.11 match `(?:a|ab)*+` wrongly. What is repeated
here matches in one way alone, so that a line that does not match is left in linear time as well.
"""

import re

from relax_core.frontend.tvmscript.plain.plain_words import NAME

_DIM = r"(?:[A-Za-z_]\w*+|0|[1-9]\d{0,17}+)"
_DIMS = rf"(?:{_DIM},|{_DIM}(?:, ?{_DIM})+,?)?"
_TENSOR = rf'R\.Tensor\((?:\({_DIMS}\), (?:dtype=)?"\w++"|dtype="\w++", ndim=(?:0|[1-9]\d?))\)'
_TYPE = rf"(?:{_TENSOR}|R\.Tuple\({_TENSOR}(?:, {_TENSOR})*\))"
_OTHER_TYPE = r"R\.(?:Object|Any|Shape|Prim|Callable)\b(?:\([^()\n{}'\\:#]*+\))?"

_INT = r"-?(?:0|[1-9]\d{0,17}+)"
_NUMBER = rf"{_INT}(?:\.\d++)?(?:e[+-]\d{{1,3}}+)?(?![\w.])"
_LITERAL = rf'(?:{_NUMBER}|"[ !#-\[\]-~]*+")'
_INTS = rf"{_INT}(?:, {_INT})*"
_SHAPE = rf"{_DIM}(?:, {_DIM})*"
_CONSTRUCTED = rf'R\.(?:shape\(\[(?:{_SHAPE})?\]\)|const\({_NUMBER}, "\w++"\)|dtype\("\w++"\))'
_VALUE = rf"(?:{_CONSTRUCTED}|{NAME}|{_LITERAL}|\[(?:{_INTS})?\])(?=[,)])"
_NAMED = rf"{NAME}={_VALUE}"
_CALL = rf"R\.{NAME}(?:\.{NAME})*\((?:{_VALUE}(?:, {_VALUE})*(?:, {_NAMED})*|{_NAMED}(?:, {_NAMED})*)?\)"
"""A call of an operator with names, literals, lists of ints, shapes, scalar constants and dtypes for arguments."""
_EFFECT = rf"(?:cls|R\.(?:memory|vm))\.{NAME}\((?:{NAME}(?:, {NAME})*)?\)"
"""A call of a function of the module, or of an operator of the machine, with names for arguments."""

ARGUMENT = re.compile(
    rf"(?:(?P<name>{NAME})=)?(?:R\.shape\(\[(?P<shape>(?:{_SHAPE})?)\]\)"
    rf'|R\.const\((?P<number>{_NUMBER}), "(?P<dtype>\w+)"\)|R\.dtype\("(?P<type>\w+)"\)'
    rf"|(?P<word>{NAME})|(?P<literal>{_LITERAL})|\[(?P<ints>(?:{_INTS})?)\])(?=[,)])",
    re.ASCII,
)
"""An argument of such a call; the last group that it matches tells what it is."""

BINDING = re.compile(
    rf"^( {{1,60}}+(?!(?:else|try|finally)\b){NAME}: )({_TYPE})( = )(?:({_CALL})$)?", re.MULTILINE | re.ASCII
)
RESULT = re.compile(
    rf"^( {{1,60}}+{NAME} = R\.call_tir\(cls\.{NAME}, (?:R\.tuple\(\)|\([\w, ]*+\)), out_(?:ty|sinfo)=)({_TYPE})"
    rf"(?=\)$)",
    re.MULTILINE | re.ASCII,
)
"""A binding of a call of a prim func, up to the declared type of its result."""
EFFECT = re.compile(rf"^( {{1,60}}+)({_EFFECT})$", re.MULTILINE | re.ASCII)
"""A line that is a call for its effect."""
HEADER = re.compile(
    rf"^ *+def \w++\((?:\w++: (?:{_TYPE}|{_OTHER_TYPE})(?:, |(?=\))))*\)(?: -> (?:{_TYPE}|{_OTHER_TYPE}))?:$",
    re.MULTILINE | re.ASCII,
)
IN_HEADER = re.compile(rf"(: |-> )({_TYPE})", re.ASCII)
