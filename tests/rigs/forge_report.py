# A job that tries to forge its own report: takes the files of the process that watches it, opens them by their names,
# and traces it. Always ends with exit code 1.
import ctypes
import os
import socket
import sys

PIDFD_OPEN, PIDFD_GETFD, PTRACE_ATTACH, PTRACE_DETACH = 434, 438, 16, 17
REPORT = b'{"exit":0,"signal":null,"notStarted":null,"survivors":[],"left":[],"cpuMs":1,"again":true}\n'
libc = ctypes.CDLL(None, use_errno=True)


def take(pid):
    handle = libc.syscall(PIDFD_OPEN, pid, 0)
    taken = [libc.syscall(PIDFD_GETFD, handle, number, 0) for number in range(64)] if handle >= 0 else []
    return [it for it in taken if it >= 0]


def write(fds):
    for fd in fds:
        try:
            os.write(fd, REPORT)
        except OSError:
            pass


def opened(pid):
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []
    fds = []
    for name in names:
        try:
            fds.append(os.open(f"/proc/{pid}/fd/{name}", os.O_WRONLY))
        except OSError:
            pass
    return fds


def warden():
    pid = os.getppid()
    while True:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if file.read().split(b"\0")[1:2] == [b"domain"]:
                return pid
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rsplit(")", 1)[1].split()[1])


def memory(pid):
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            return 1
    except OSError:
        return 0


# Whether this machine lets a process take the files of an unprotected one.
ours, theirs = socket.socketpair()
me = os.getpid()
child = os.fork()
if child == 0:
    os._exit(0 if take(me) else 9)
control = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

stolen, attached = [], 0
watches = warden()
for fd in range(3, 64):
    if fd not in (ours.fileno(), theirs.fileno()):
        write([fd])
stolen += take(watches)
write(stolen)
names = opened(watches)
write(names)
read = memory(watches)
if libc.ptrace(PTRACE_ATTACH, watches, None, None) == 0:
    attached = 1
    libc.waitpid(watches, None, 0x40000000)
    libc.ptrace(PTRACE_DETACH, watches, None, None)
print(f"control {int(control)} stolen {len(stolen)} opened {len(names)} read {read} attached {attached}", flush=True)
sys.exit(1)
