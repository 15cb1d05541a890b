"""Run passes of apache-tvm on texts: reads a line of JSON for each, and writes one.

`{"text": ..., "pass": ...}` is answered by `{"before": ..., "after": ...}`, or by `{"why": ...}` if TVM does not read
the text or its pass stops. A pass that breaks the process down ends it, so that the caller starts another one.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false

import json
import os
import sys

import tvm
from tvm import relax

from benchmarks.relax_stages import parsed, text_of


def main() -> None:
    """Serve until the input ends."""
    # TVM writes diagnostics to the standard output, from C++ too; the answers go where it was.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        answers.write(json.dumps(answer(question["text"], question["pass"])) + "\n")
        answers.flush()


def answer(text: str, name: str) -> dict[str, str]:
    """Give a module before and behind a pass, or why there is none."""
    try:
        module = parsed(text)
        with tvm.target.Target("llvm"):
            return {"before": text_of(module), "after": text_of(getattr(relax.transform, name)()(module))}
    except BaseException as error:  # the parser of TVM raises several kinds, some below no common class
        if isinstance(error, KeyboardInterrupt):
            raise
        lines = [line.strip() for line in str(error).splitlines() if any(map(str.isalpha, line))]
        return {"why": " ".join((type(error).__name__, *lines[-1:]))[:200]}


if __name__ == "__main__":
    main()
