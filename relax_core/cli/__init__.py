"""The command line: the engine's session as text.

    python -m relax_core check  FILE... [--prims everywhere|packed_only] [--fix | --diff]
    python -m relax_core script FILE [--dialect tvmscript|relay|ast] [--spelling 2026|2025|2023|2022]
                                       [--tvm 0.25|0.27] [--passes P]
    python -m relax_core opt    FILE --passes P [--table T] [--print-after-all | --diff] [--svg SVG] [--pdf PDF]
                                       [--json]
    python -m relax_core diff   A B [--printed | --structure [--json]] [--svg SVG] [--pdf PDF]
    python -m relax_core diff   OLD NEW --markdown [--passes P] [--time] [--reports DIR] [--fail-on change|values]
    python -m relax_core batch  check,run,bisect,partition,diff PATH... [--against OLD] [--store FILE]
                                       [--compare EARLIER] [--junit XML] [--markdown MD] [--html HTML] [--json]
    python -m relax_core costs  FILE [--passes P] [--entry main] [--sizes n=64] [--json]
    python -m relax_core run    FILE [--entry main] [--inputs in.npz | --seed 0 --sizes n=64] [--outputs out.npz]
                                       [--signed] [--passes P] [--mode exact|bitwise|fast] [--find-uninitialised]
                                       [--poison-memory] [--break LINE|@PC]... [--when CONDITION] [--stop-at-nan]
                                       [--stops 1] [--dump values.npz] [--svg SVG] [--pdf PDF] [--profile]
                                       [--simulate [--machine M]]
    python -m relax_core report FILE [-o report.html] [--notes MD] [--parts source,passes,run] [--dated]
                                       [--passes P] [--inputs in.npz | --seed 0 --sizes n=64]
    python -m relax_core inside FILE [--entry K | --kernel K | --time T] [--go MOVE]... [--steps N] [--heat BUFFER]
                                       [--report [--machine M]] [--inputs in.npz | --seed 0 --sizes n=64] [--passes P]
                                       [--json]
    python -m relax_core bisect FILE [FILE...] [--passes P] [--values] [--relative R] [--absolute A] [--json]
    python -m relax_core compare A.npz B.npz | FILE FILE | FILE --stages 0 7
    python -m relax_core asm    FILE [--kernel NAME --as bytecode|llvm|asm|remarks|plan|steps | --schedule S]
    python -m relax_core origins FILE [--line N | --stage S] [--passes P] [--json]
    python -m relax_core partition FILE --table T [--targets A,B] [--json | --markdown] [--fail-under C] [--diff OLD]
    python -m relax_core devices FILE [--default cpu] [--clone] [--json | --debug-print]
                                       [--as-in reported --visits memo_body|args_first --visit-limit N]
    python -m relax_core ops    [NAME] [--json | --markdown] [--packed]
    python -m relax_core explain NAME... [--json]
    python -m relax_core serve  [--host H] [--port 8502] [--allow-host NAME]... [--processes N] [--seconds S]
    python -m relax_core lesson check|handout|slides|codes PATH... [--answers]

Programs run in a worker with limits, or with `--in-process` in this process. Exit status: 0, 1 for a diagnosed
program, for values that differ and for a NaN that was found, 2 for bad usage, 3 for a limit reached,
130 if interrupted.
"""

from relax_core.cli.command_line import main
from relax_core.cli.terminal import BAD_USAGE, DIAGNOSED, INTERRUPTED, LIMIT

__all__ = ["BAD_USAGE", "DIAGNOSED", "INTERRUPTED", "LIMIT", "main"]
