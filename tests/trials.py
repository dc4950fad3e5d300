"""What the test scripts share: every function test_* in an empty directory of its own, one line for each, and what makes the
world small: another user, no io_uring. A script puts this folder into its path and ends with sys.exit(run_all(globals())).
"""
import ctypes
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import time


class Skip(Exception):
    """What cannot be tried here, and why."""


def expect(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"got {actual!r}, expected {wanted!r}")


def run_all(names, place=None, leaves_nothing=False):
    """The exit status: 1 when a test failed, 77 when none could be tried. `place`: where the directories are made."""
    tests = {name: test for name, test in sorted(names.items()) if name.startswith("test_")}
    failed = skipped = 0
    for name, test in tests.items():
        with tempfile.TemporaryDirectory(prefix="weir-test-", dir=place) as folder:
            os.chdir(folder)
            began = time.monotonic()
            try:
                test()
                if leaves_nothing:
                    expect(os.listdir("."), [])
                print(f"ok   {name} ({time.monotonic() - began:.1f} s)")
            except Skip as reason:
                skipped += 1
                print("SKIP", name, "-", reason)
            except Exception as problem:  # whatever it is, the others are to run
                failed += 1
                print("FAIL", name, "-", type(problem).__name__, problem)
            os.chdir("/")
    return 1 if failed else 77 if skipped == len(tests) else 0


def on_terminal(columns, command, environment):
    """What the command writes to a terminal of so many columns, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execve(command[0], command, environment)
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(terminal)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def why_no_mounts():
    """Why nothing can be mounted in a name space of one's own here, as in a chroot; None: it can."""
    if os.geteuid():
        return "mounts need root"
    if not shutil.which("unshare"):
        return "unshare is not installed"
    tried = subprocess.run(["unshare", "-m", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return "no mount name space can be made here" if tried.returncode else None


def become_nobody():
    """For preexec_fn."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def need_another_user(program):
    """Skips where nobody cannot run the program; else opens the current directory to him."""
    if os.geteuid():
        raise Skip("only root can become another user")
    os.chmod(".", 0o777)
    try:  # the folder of the build may be root's alone
        reached = subprocess.run([program, "--version"], preexec_fn=become_nobody, stdout=subprocess.DEVNULL).returncode == 0
    except PermissionError:
        reached = False
    if not reached:
        raise Skip("another user cannot run this program")


def forbid_rings():
    """For preexec_fn: a seccomp filter that refuses io_uring_setup, call 425 on all of Linux' younger machines."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 425, 0x06, 0, 0, 0x00050001, 0x06, 0, 0, 0x7FFF0000)
    data = ctypes.create_string_buffer(code)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(4, ctypes.addressof(data))
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        os._exit(99)


def need_forbidden_rings():
    if os.uname().machine not in ("x86_64", "aarch64"):
        raise Skip("the filter is made for x86-64 and aarch64")
    if subprocess.run(["true"], preexec_fn=forbid_rings).returncode:
        raise Skip("no seccomp filter can be set here")
