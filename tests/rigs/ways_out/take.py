"""Reads memory of a process without its files (`memory PID`), or takes its descriptor 9 (`descriptor PID`)."""

import ctypes
import os
import sys

PROCESS_VM_READV, PIDFD_OPEN, PIDFD_GETFD = {
    "x86_64": (310, 434, 438),
    "aarch64": (270, 434, 438),
}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *args):
    # An `int` would leave the upper half of a register undefined.
    words = [ctypes.c_long(it) if isinstance(it, int) else it for it in args]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    return result


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


what, pid = sys.argv[1], int(sys.argv[2])
if what == "descriptor":
    call(PIDFD_GETFD, call(PIDFD_OPEN, pid, 0), 9, 0)
else:
    # Where its program is loaded: anybody who may trace it may know.
    with open(f"/proc/{pid}/maps") as maps:
        begin = int(maps.readline().split("-")[0], 16)
    buffer = ctypes.create_string_buffer(16)
    local, remote = Piece(ctypes.addressof(buffer), 16), Piece(begin, 16)
    count = call(PROCESS_VM_READV, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    sys.exit(count != 16)
