#!/usr/bin/env python3
"""The whole program in a world that breaks: faults.py WEIR

System calls fail (injected by strace), limits are reached, files change and processes are killed under a run. What must
hold in every case: an end, a row or message that says why, the right exit code, no rate for what failed, and nothing left
on the disk. Exits 77 when strace cannot be used here, after all that does not need it has passed.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
QUICK = ["bench", "-q", "--format", "json", "--size", "64KiB", "--rounds", "2", "--seed", "1"]
LONG = ["bench", "--format", "json", "--size", "1MiB", "--rounds", "100000", "--time", "1h", "--seed", "1"]


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.rows = {}
        if out.startswith("{"):
            self.document = json.loads(out)
            self.rows = {cell["id"].split("[")[0]: cell for group in self.document["groups"] for cell in group["cells"]}

    def failed(self, name, why):
        row = self.rows[name]
        assert row["status"] == "failed" and why in row["reason"], row
        assert not row.get("bytes_per_s"), row

    def fine(self, name):
        assert self.rows[name]["status"] == "ok", self.rows[name]


def run(*arguments, before=(), **settings):
    done = subprocess.run([*before, WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, **settings)
    return Result(done.returncode, done.stdout, done.stderr)


def broken(call, what, *arguments):
    """A run in which a system call fails: what = 'error=EIO:when=3+'; each process counts its own calls."""
    return run(*arguments, before=["strace", "-f", "--seccomp-bpf", "-qq", "-o", os.devnull, "-e", f"trace={call}",
                                   "-e", f"inject={call}:{what}"])


def expect(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"got {actual!r}, expected {wanted!r}")


def nothing_left(*but):
    for _ in range(100):
        if sorted(os.listdir(".")) == sorted(but):
            return
        time.sleep(0.05)
    raise AssertionError(f"left: {os.listdir('.')}")


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def in_the_rounds(*arguments, meanwhile):
    """Starts a run without an end, does something to it among its samples, and takes what it says."""
    process = subprocess.Popen([WEIR, *LONG, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("[burn-in"):
            time.sleep(1)
            break
    meanwhile(process)
    out, err = process.communicate(timeout=60)
    return Result(process.returncode, out, err)


# ---- files and processes that others touch ----


def test_a_file_cut_short_is_a_failed_row_of_a_changed_file():
    pathlib.Path("mine").write_bytes(os.urandom(1 << 20))
    done = in_the_rounds("-m", "fd/pread", "-m", "map/view", "mine", meanwhile=lambda _: os.truncate("mine", 5000))
    expect(done.code, 1)
    for name in ("fd/pread", "map/view"):
        done.failed(name, "the file was cut short by another program during the run")
    nothing_left("mine")


def test_a_replaced_file_is_a_failed_row_of_a_replaced_file():
    pathlib.Path("mine").write_bytes(os.urandom(1 << 20))
    pathlib.Path("other").write_bytes(os.urandom(1 << 20))
    done = in_the_rounds("-m", "fd/pread", "mine", meanwhile=lambda _: os.rename("other", "mine"))
    expect(done.code, 1)
    done.failed("fd/pread", "the file was replaced by another program during the run")
    nothing_left("mine")


def test_a_scratch_directory_that_vanishes_is_a_failed_row():
    def remove(_):
        for name in pathlib.Path(".").glob(".weir-*"):
            shutil.rmtree(name)

    done = in_the_rounds("-m", "fd/pread", meanwhile=remove)
    expect(done.code, 1)
    done.failed("fd/pread", "the file was removed by another program during the run")
    nothing_left()


def test_a_killed_worker_is_a_failed_row():
    def kill(process):
        for _ in range(1000):
            workers = children(process.pid)[1:]
            for worker in workers:
                try:
                    os.kill(worker, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            if workers:
                time.sleep(0.2)
                process.send_signal(signal.SIGINT)
                return

    for _ in range(20):  # the signal may come when all has been told already
        done = in_the_rounds("-m", "fd/pread[block=512]", meanwhile=kill)
        nothing_left()
        if done.rows["fd/pread"]["status"] == "failed":
            done.failed("fd/pread", "crashed with SIGKILL")
            return
    raise AssertionError("no worker could be killed")


def test_without_janitor_the_run_cleans_up_itself():
    def kill(process):
        os.kill(children(process.pid)[0], signal.SIGKILL)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)

    expect(in_the_rounds("-m", "fd/pread", meanwhile=kill).code, 130)
    nothing_left()


# ---- what is inherited, limits, odd files ----


def test_ignored_sigchld_does_not_hide_how_workers_end():
    done = run(*QUICK, "-m", "fd/pread", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect((done.code, done.err), (0, ""))


def test_a_limit_of_file_size_is_not_called_a_full_disk():
    done = run(*QUICK, "-m", "fd/pread", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
    expect(done.code, 2)
    assert "File too large" in done.err, done.err
    nothing_left()


def test_few_descriptors_are_enough():
    done = run(*QUICK, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
    expect((done.code, done.err), (0, ""))
    nothing_left()


def test_a_file_that_gives_less_than_it_tells_is_refused_by_name():
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    if not os.path.exists(path):
        print("skip: no", path)
        return
    done = run(*QUICK, path)
    expect(done.code, 2)
    expect(done.err, f"weir: '{path}' gives less than the size that the system tells; copy it to a file first\n")


def test_one_directory_under_two_names_is_refused():
    done = run(*QUICK, "-d", ".", "-d", os.getcwd())
    expect(done.code, 2)
    assert "are the same directory" in done.err, done.err


def test_two_runs_in_one_directory_do_not_meet():
    both = [subprocess.Popen([WEIR, *QUICK, "-m", "fd/*", "-m", "map/*", "--direction", "read,write"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        done = Result(process.wait(timeout=120) or 0, *process.communicate())
        expect((process.returncode, done.err), (0, ""))
    nothing_left()


def test_warm_on_an_overlay_is_warm():
    for name in ("lower", "upper", "work", "merged", "up"):
        os.mkdir(name)
    script = """mount -t tmpfs none up && mkdir up/u up/w &&
        mount -t overlay overlay -o lowerdir=lower,upperdir=up/u,workdir=up/w merged && cd merged && exec "$0" "$@" """
    if subprocess.run(["unshare", "-m", "sh", "-c", script, "true"], stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT).returncode != 0:
        print("skip: no overlay can be mounted here")
        return
    done = run(*QUICK, "-m", "fd/pread", before=["unshare", "-m", "sh", "-c", script])
    expect(done.code, 0)
    expect(done.rows["fd/pread"]["evidence"]["resident_before"], 1)
    expect([warning for warning in done.document["warnings"] if warning["id"] == "W07"], [])


# ---- system calls that fail; needs strace ----


def strace_reading_fails():
    # the first ones are those of starting the program and of preparing the file
    done = broken("pread64", "error=EIO:when=12+", *QUICK, "-m", "fd/pread[block=4KiB]", "-m", "fd/read", "-m", "map/view")
    expect(done.code, 1)
    done.failed("fd/pread", "Input/output error")
    done.fine("fd/read")
    done.fine("map/view")


def strace_reading_is_cut_and_interrupted():
    done = broken("read", "error=EINTR:when=20..40", *QUICK, "-m", "fd/read", "-m", "stdio/fread")
    expect(done.code, 0)
    done = broken("pread64", "retval=0:when=4+", *QUICK, "-m", "fd/pread[block=4KiB]", "-m", "fd/read")
    expect(done.code, 1)
    done.failed("fd/pread", "file ended at byte")


def strace_flushing_fails():
    done = broken("fdatasync", "error=ENOSPC", *QUICK, "--direction", "write", "-m", "fd/pwrite")
    expect(done.code, 1)
    done.failed("fd/pwrite", "No space left on device")


def strace_write_back_fails_after_the_method():
    done = broken("fsync", "error=EIO:when=2+", *QUICK, "--direction", "write", "--durability", "none", "-m", "fd/pwrite")
    expect(done.code, 1)
    done.failed("fd/pwrite", "what was written did not reach the storage: Input/output error")


def strace_mapping_fails():
    done = broken("msync", "error=EIO", *QUICK, "--direction", "write", "-m", "map/write", "-m", "fd/pwrite")
    expect(done.code, 1)
    done.failed("map/write", "Input/output error")
    done.fine("fd/pwrite")


def strace_no_ring():
    for error in ("ENOSYS", "EPERM", "ENOMEM", "EMFILE"):
        done = broken("io_uring_setup", f"error={error}", *QUICK, "-m", "ring/plain", "-m", "fd/pread")
        expect(done.code, 0)
        expect(done.rows["ring/plain"]["status"], "unavailable")
        done.fine("fd/pread")


def strace_no_more_processes_keeps_what_was_measured():
    done = broken("clone", "error=EAGAIN:when=12+", *QUICK, "--rounds", "20", "-m", "fd/pread")
    expect(done.code, 2)
    assert "the run cannot go on: Resource temporarily unavailable" in done.err, done.err
    expect(done.document["interrupted"], True)
    done.fine("fd/pread")


def strace_a_moment_without_processes_is_waited_for():
    expect(broken("clone", "error=EAGAIN:when=5..9", *QUICK, "-m", "fd/pread").code, 0)


def strace_no_place():
    for call, error in (("mkdir", "ENOSPC"), ("flock", "ENOLCK"), ("rename", "EIO"), ("pipe2", "EMFILE")):
        done = broken(call, f"error={error}:when=1", *QUICK, "-m", "fd/pread")
        expect((done.code, done.out), (2, ""))
        assert done.err.startswith("weir: no "), done.err


def strace_removal_that_fails_is_said():
    done = broken("unlinkat", "error=EPERM", *QUICK, "-m", "fd/pread")
    assert any(warning["id"] == "W11" for warning in done.document["warnings"]), done.document["warnings"]
    expect(run(*QUICK, "-m", "fd/pread").code, 0)  # and the next run sweeps


def can_inject():
    if not shutil.which("strace"):
        print("skip: no strace here")
        return False
    done = subprocess.run(["strace", "-f", "--seccomp-bpf", "-qq", "-o", os.devnull, "-e", "trace=pread64", "-e",
                           "inject=pread64:error=EIO:when=9999", "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("skip: strace cannot be used:", done.stdout.decode().strip())
    return done.returncode == 0


def all_good(prefix):
    good = True
    for name, test in sorted(globals().items()):
        if not name.startswith(prefix):
            continue
        with tempfile.TemporaryDirectory(prefix="weir-faults-") as folder:
            os.chdir(folder)
            try:
                began = time.monotonic()
                test()
                if prefix == "strace_":
                    nothing_left()
                print(f"ok   {name} ({time.monotonic() - began:.1f} s)")
            except Exception as problem:  # whatever it is, the others shall be tried
                good = False
                print("FAIL", name, type(problem).__name__, problem)
            os.chdir("/")
    return good


def main():
    good = all_good("test_")
    if not can_inject():
        return 77 if good else 1
    return 0 if all_good("strace_") and good else 1


sys.exit(main())
