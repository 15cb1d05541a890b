"""Tell Relay text from TVMScript."""

import re

_SUFFIXES = (".relay", ".rly")
_SCRIPT = re.compile(
    r"(?m)^[ \t>+.]*(?:@(?:R|T|I|relax|tir|tvm|script)\b[.\w]*|import \w|from \w[\w.]* import |class \w+|def \w+\()"
)
_RELAY = re.compile(
    r"""(?mx)
      \#\[\s*version\b | \#\[\s*metadata\s*\] | ^[ \t]*v0\.0\.\d[ \t]*$
    | ^[ \t>+]*(?:
          def\s+@ | extern\s+type\s | type\s+\w+\s*(?:\[[\w\s,]*\])?\s*(?:\{|=\s*\|)
        | (?:let|free_var)\s+% | %[\w?.]+\s*(?:=|\(|:|$) | fn\s*[\[(]\s*[%\w)] | match\??\s*\(\s*%
        | [({-]+\s*(?:%\w|let\s) | \(\)\s*; | if\s*\(.*\)\s*\{ | match\??\s*\(.*\{
        | let\s+@?\w+\s*= | ref\( | \w+\s[*+/-]\s%\w
        | %\w+ | @\w+\( | [\w.]+\(%[\w?]+
      )
    """
)
_DECORATOR = re.compile(r"(?m)^[ \t]*@(?:R|T|I|relax|tir|tvm|script)\b")


def is_relay(text: str, name: str) -> bool:
    """Tell whether a text is Relay: by the end of its name, else by how its lines begin."""
    if name.endswith(_SUFFIXES):
        return True
    return _SCRIPT.search(text) is None and _RELAY.search(text) is not None


def fitting_name(text: str, name: str) -> str:
    """Return the file name to read `text` under: a name that ends as the other language's files do is not believed."""
    is_misnamed = name.endswith(".relay") and _DECORATOR.search(text) is not None and not is_relay(text, "")
    return name.removesuffix(".relay") + ".py" if is_misnamed else name
