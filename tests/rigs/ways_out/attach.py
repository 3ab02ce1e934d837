"""Attaches to a process as a debugger does, and detaches again."""

import ctypes
import os
import sys

ATTACH, DETACH = 16, 17
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
if libc.ptrace(ATTACH, pid, None, None) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(pid, 0x40000000)
libc.ptrace(DETACH, pid, None, None)
