"""Confinement of a worker beyond resource limits: no network, a filter of system calls, death with its parent.

Each function returns whether the kernel granted it, so that a worker reports what is in force and nothing else.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
from types import MappingProxyType

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_CLONE_THREAD = 0x00010000
_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_SET = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL = 0x80000000

_AUDIT_ARCH_X86_64 = 0xC000003E
_OFFSET_NUMBER, _OFFSET_ARCH = 0, 4
_X32_BIT = 0x40000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Numbers of x86-64 system calls that no request needs: programs, sockets, other processes, changes of files.
_DENIED = MappingProxyType(
    {
        "programs": (57, 58, 59, 322),  # fork vfork execve execveat
        "sockets": (41, 42, 43, 49, 50, 53, 288),  # socket connect accept bind listen socketpair accept4
        "processes": (62, 101, 200, 310, 311, 424, 438),  # kill ptrace tkill process_vm_* pidfd_*
        "files": (76, 82, 83, 84, 85, 86, 87, 88, 90, 92, 94, 133, 258, 259, 260, 263, 264, 265, 266, 268, 316),
        "system": (155, 161, 165, 166, 169, 175, 176, 246, 248, 250, 272, 298, 308, 313, 321, 323, 425),
    }
)
_ABSENT = (435, 437)  # clone3 openat2: glibc falls back to clone and openat, whose arguments can be seen
_OPEN, _OPENAT, _CLONE, _TGKILL, _PRLIMIT = 2, 257, 56, 234, 302

_Code = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def leave_network() -> bool:
    """Move this process into an empty network namespace; return whether the kernel allowed it.

    Call it before the first thread: the fallback, a new user namespace, is only granted to a single-threaded process.
    """
    libc = _libc()
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def die_with_parent() -> bool:
    """Ask the kernel to kill this process when the thread that started it ends."""
    return _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0


def filter_calls(*, may_write: bool = False) -> bool:
    """Refuse system calls that start programs, open sockets, reach other processes or, by default, change files."""
    # The numbers above are those of 64-bit programs: one of 32 bits on the same machine would be killed.
    if platform.machine() != "x86_64" or struct.calcsize("P") != 8:
        return False
    libc = _libc()
    code = b"".join(struct.pack("HBBI", *line) for line in _filter(os.getpid(), may_write=may_write))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _filter(pid: int, *, may_write: bool) -> list[_Code]:
    """Assemble the filter; every rule ends in a return, so that each can be read alone."""
    refuse, absent, allow = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS, _ALLOW
    code: list[_Code] = [
        (_LOAD, 0, 0, _OFFSET_ARCH),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_SET, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, refuse),
    ]
    denied = [name for name in _DENIED if not (may_write and name == "files")]
    for number in (number for name in denied for number in _DENIED[name]):
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    for number in _ABSENT:
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, absent)]
    if not may_write:
        code += _argument_rule(_OPEN, 1, _JUMP_SET, _WRITING, refuse, allow)
        code += _argument_rule(_OPENAT, 2, _JUMP_SET, _WRITING, refuse, allow)
    code += _argument_rule(_CLONE, 0, _JUMP_SET, _CLONE_THREAD, allow, refuse)
    code += _argument_rule(_TGKILL, 0, _JUMP_EQUAL, pid, allow, refuse)
    code += _argument_rule(_PRLIMIT, 0, _JUMP_EQUAL, 0, allow, refuse)
    code.append((_RETURN, 0, 0, allow))
    return code


def _argument_rule(number: int, argument: int, test: int, value: int, then: int, otherwise: int) -> list[_Code]:
    """Test the low half of one argument of system call `number`, and return one of two verdicts."""
    return [
        (_JUMP_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, 16 + 8 * argument),
        (test, 0, 1, value),
        (_RETURN, 0, 0, then),
        (_RETURN, 0, 0, otherwise),
    ]
