"""The version of the lowering: what compiled code depends on besides the program, the options and the processor."""

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

PACKAGES: Final = ("analysis", "ir", "jit")
"""Where lowering is written: the same prim func becomes the same code as long as nothing changes there."""

_ROOT = Path(__file__).resolve().parents[2]


@lru_cache(1)
def lowering_version() -> str:
    """Return the digest of the sources that lowering consists of."""
    digest = blake2b(digest_size=20)
    for package in PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(f"{path.relative_to(_ROOT).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
