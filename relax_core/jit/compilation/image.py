"""Machine code as one piece of memory: laid out when it is compiled, and only moved when it is loaded.

Linking a kernel of a few hundred bytes with LLVM took a third of its first call from the cache. The objects of kernels
are simple: code and constants name places by whole addresses, and nothing in them is written. So what is kept is the
bytes, and the places in them to which the address is added where they come to lie, or that of a symbol.
"""

import ctypes
import mmap
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, NoReturn

# The format is that of the ELF specification and of the System V ABI for x86-64.
_ELF_HEAD: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QIIq")
_X86_64_OBJECT: Final = b"\x7fELF\x02\x01\x01", 1, 62
_SYMBOLS, _RELOCATIONS, _NO_BITS = 2, 4, 8
_IS_WRITTEN, _IS_LOADED = 1, 2
_WHOLE_ADDRESS: Final = 1
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00
_GLOBAL: Final = 1
# Code runs to its end or stops by a return: nothing is raised through it.
_UNWINDING: Final = ".eh_frame"

_MAGIC: Final = b"RSCODE1\n"
# The numbers of places to move, of places of symbols, and of names that are defined; the bytes of all names. For each
# of the three there is a pair: a place and what its address is added to, or what a name stands for.
_HEAD: Final = struct.Struct("<8sIIII")
_PAIR: Final = struct.Struct("<qq")
_WORD: Final = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    binding: int
    section: int
    value: int


class _UnknownError(Exception):
    """An object has something that is not known here."""


class _Object:
    """The parts of an object file."""

    def __init__(self, content: bytes) -> None:
        kind, form, machine, *head = _ELF_HEAD.unpack_from(content)
        if (kind[:7], form, machine) != _X86_64_OBJECT:
            _refuse("no object for x86-64")
        first: int = head[3]
        entry_size, count, names = map(int, head[8:])
        self._content = content
        self.sections: list[_Section] = [
            _Section(*_SECTION.unpack_from(content, first + number * entry_size)) for number in range(count)
        ]
        self._section_names = self.bytes_of(self.sections[names])
        tables = [item for item in self.sections if item.kind == _SYMBOLS]
        self.symbols: list[_Symbol] = [symbol for table in tables for symbol in self._symbols(table)]

    def bytes_of(self, section: _Section) -> bytes:
        """Return what lies in a section."""
        return self._content[section.offset : section.offset + section.size]

    def name_of(self, section: _Section) -> str:
        """Return the name of a section."""
        return _text_at(self._section_names, section.name)

    def _symbols(self, section: _Section) -> list[_Symbol]:
        names = self.bytes_of(self.sections[section.link])
        return [
            _Symbol(_text_at(names, name), info >> 4, place, value)
            for name, info, _, place, value, _ in _SYMBOL.iter_unpack(self.bytes_of(section))
        ]


def laid_out(content: bytes) -> bytes:
    """Return the code of an object file in the form that `load` takes; the object itself if it has no such form."""
    try:
        return _laid_out(_Object(content))
    except _UnknownError:
        return content


def is_laid_out(content: bytes) -> bool:
    """Tell whether this is what `load` takes."""
    return content.startswith(_MAGIC)


def _laid_out(item: _Object) -> bytes:
    code, start_of = _placed(item)
    moved: list[tuple[int, int]] = []
    opened: list[tuple[int, int, str]] = []
    for section in item.sections:
        if section.kind != _RELOCATIONS or section.info not in start_of:
            continue
        rows: Iterator[tuple[int, int, int, int]] = _RELOCATION.iter_unpack(item.bytes_of(section))
        for offset, kind, number, addend in rows:
            symbol = item.symbols[number]
            place = start_of[section.info] + offset
            if kind != _WHOLE_ADDRESS:
                _refuse(f"a relocation of type {kind}")
            if symbol.section == _UNDEFINED:
                opened.append((place, addend, symbol.name))
            elif symbol.section in start_of:
                moved.append((place, start_of[symbol.section] + symbol.value + addend))
            else:
                _refuse(f"the symbol `{symbol.name}` of section {symbol.section}")
    defined = [(symbol.name, symbol.value, symbol.section) for symbol in item.symbols if symbol.binding == _GLOBAL]
    inside = [(name, start_of[place] + value) for name, value, place in defined if place in start_of]
    return _written(code, moved, opened, inside)


def _placed(item: _Object) -> tuple[bytes, dict[int, int]]:
    """Lay what is loaded side by side; return it, and where each section starts."""
    code = bytearray()
    start_of: dict[int, int] = {}
    for number, section in enumerate(item.sections):
        if section.flags & _IS_LOADED and not item.name_of(section).startswith(_UNWINDING):
            if section.size and (section.flags & _IS_WRITTEN or section.kind == _NO_BITS):
                _refuse("memory that is written")
            if section.alignment > mmap.PAGESIZE:
                _refuse(f"an alignment of {section.alignment}")
            code += bytes(-len(code) % max(section.alignment, 1))
            start_of[number] = len(code)
            code += item.bytes_of(section)
    return bytes(code), start_of


def _written(
    code: bytes,
    moved: Sequence[tuple[int, int]],
    opened: Sequence[tuple[int, int, str]],
    defined: Sequence[tuple[str, int]],
) -> bytes:
    names = "\n".join((*(name for _, _, name in opened), *(name for name, _ in defined))).encode()
    head = _HEAD.pack(_MAGIC, len(moved), len(opened), len(defined), len(names))
    pairs = (*moved, *((place, addend) for place, addend, _ in opened), *((value, 0) for _, value in defined))
    return b"".join((head, *(_PAIR.pack(*pair) for pair in pairs), names, code))


def _text_at(names: bytes, start: int) -> str:
    return names[start : names.index(0, start)].decode()


def _refuse(what: str) -> NoReturn:
    raise _UnknownError(what)


class CodeMemory:
    """Machine code in memory of its own, which is given back with this object, but not when the process ends."""

    __slots__ = ("_size_bytes", "address")

    def __init__(self, size_bytes: int) -> None:
        self.address = 0
        self._size_bytes = size_bytes
        how = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address = _library().mmap(None, size_bytes, mmap.PROT_READ | mmap.PROT_WRITE, how, -1, 0)
        if address == _FAILED:
            raise MemoryError(f"there is no memory for {size_bytes} bytes of machine code")
        self.address = address

    def fill(self, content: bytearray) -> None:
        """Put the code there; from then on it can be run, and not be written."""
        ctypes.memmove(self.address, bytes(content), len(content))
        if _library().mprotect(self.address, self._size_bytes, mmap.PROT_READ | mmap.PROT_EXEC):
            raise RuntimeError("the system refuses to run machine code that is made here")

    def __del__(self) -> None:
        # When the process ends, threads may still run the code.
        if self.address and not sys.is_finalizing():
            _library().munmap(self.address, self._size_bytes)


def load(content: bytes, symbols: Mapping[str, int]) -> tuple[CodeMemory, dict[str, int]]:
    """Put code into memory; return it, and the addresses of what it defines.

    What it leaves open is looked up in `symbols`, and then in this process.

    Raises:
        RuntimeError: there is something in neither.
    """
    _, moved, opened, defined, name_bytes = _HEAD.unpack_from(content)
    start = _HEAD.size + _PAIR.size * (moved + opened + defined)
    names = content[start : start + name_bytes].decode().split("\n")
    image = bytearray(content[start + name_bytes :])
    code = CodeMemory(max(len(image), 1))
    pairs = _PAIR.iter_unpack(content[_HEAD.size : start])
    for place, target in islice(pairs, moved):
        _WORD.pack_into(image, place, code.address + target)
    for name, (place, addend) in zip(names[:opened], islice(pairs, opened), strict=True):
        address = symbols.get(name) or address_in_process(name)
        _WORD.pack_into(image, place, address + addend)
    code.fill(image)
    return code, {name: code.address + value for name, (value, _) in zip(names[opened:], pairs, strict=True)}


@lru_cache(256)
def address_in_process(name: str) -> int:
    """Return the address of a function of this process's libraries.

    Raises:
        RuntimeError: there is none of this name.
    """
    try:
        found = getattr(_library(), name)
    except AttributeError:
        raise RuntimeError(f"no library of this process has `{name}`") from None
    return ctypes.cast(found, ctypes.c_void_p).value or 0


_FAILED: Final = (1 << 64) - 1


@lru_cache(1)
def _library() -> ctypes.CDLL:
    """Return all libraries of this process, with what it needs of the C library declared."""
    library = ctypes.CDLL(None)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.argtypes = (pointer, size, number, number, number, ctypes.c_long)
    library.mmap.restype = pointer
    library.mprotect.argtypes = (pointer, size, number)
    library.munmap.argtypes = (pointer, size)
    return library
