#!/usr/bin/env python3
"""What `weir make` promises: make.py WEIR

The same bytes everywhere, as they were said to be; a file that is whole or not there, and never in the place of another; as
many pieces on the disk as wanted, or a word that they are not. Each test runs in an empty directory.
"""
import hashlib
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all, why_no_mounts

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
LINE = re.compile(r"(?P<name>.*): (?P<what>[^,]*), (?P<size>\d+) bytes( \([^)]*\))?, seed 0x(?P<seed>[0-9A-F]+), "
                  r"xxh64 (?P<hash>[0-9a-f]{16})(, (?P<extents>\d+) extents?)?\n")


def weir(*arguments, **settings):
    return subprocess.run([WEIR, "make", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=120, text=True, errors="replace", **settings)


def made(*arguments):
    """The bytes of the file that is made, and what was printed of it."""
    done = weir(*arguments)
    expect((done.returncode, done.stderr), (0, ""))
    line = LINE.fullmatch(done.stdout)
    assert line, done.stdout
    data = pathlib.Path(arguments[1]).read_bytes()
    expect((line["name"], int(line["size"])), (arguments[1], len(data)))
    return data, line


def refused(words, *arguments):
    before = sorted(os.listdir("."))
    done = weir(*arguments)
    expect((done.returncode, done.stdout), (2, ""))
    assert words in done.stderr, f"no '{words}' in: {done.stderr}"
    expect(sorted(os.listdir(".")), before)


def xxh64(data):
    """The published algorithm, seed 0."""
    mask, primes = (1 << 64) - 1, (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                                   0x27D4EB2F165667C5)
    p1, p2, p3, p4, p5 = primes

    def rotate(value, bits):
        return (value << bits | value >> (64 - bits)) & mask

    def step(state, word):
        return rotate((state + word * p2) & mask, 31) * p1 & mask

    state, at = [(p1 + p2) & mask, p2, 0, -p1 & mask], 0
    for at in range(0, len(data) - 31, 32):
        state = [step(s, word) for s, word in zip(state, struct.unpack_from("<4Q", data, at))]
    if len(data) < 32:
        total = p5
    else:
        at += 32
        total = sum(rotate(s, bits) for s, bits in zip(state, (1, 7, 12, 18))) & mask
        for s in state:
            total = ((total ^ step(0, s)) * p1 + p4) & mask
    total = total + len(data) & mask
    for at in range(at, len(data) - 7, 8):
        total = (rotate(total ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
    at = len(data) // 8 * 8
    if len(data) - at >= 4:
        total = (rotate(total ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * p5 & mask, 11) * p1 & mask
    for prime, bits in ((p2, 33), (p3, 29)):
        total = (total ^ total >> bits) * prime & mask
    return total ^ total >> 32


# What all machines and later versions must make: SHA-256 of 100,001 bytes, or what comes nearest.
KNOWN = {
    "random": "e47d4b7af58a55e5d2008bca630749202204ea6f7658e8f27cd2cd364dd6de92",
    "text": "9abe3755a33be4a5cf7a72a4d2424e953d575b658aba0f3c4170ae1bb9f85ff5",
    "records": "f0885fc7adda00f3f26292882cd7d0e8e8b129d1fdaaa499a8e83fcc0a51ca35",
    "typed": "5a4df34187bf0f708a9fc66754c737407668dde72e29655405666f42ee6bec77",
    "random --compressible 0.4 --seed 9": "df2f871123b43ee560326609bdf3f058234752d933d7c1086b95345d7e0ed224",
    "text --encoding latin1 --newline crlf --item 20": "6b4abf84aa6a06a98697bc5bf5cbde4a3c2bbd73e7c137d2104c615c42ed0f71",
    "text --encoding utf16le --bom --seed 0x5EED": "4f0c653b56541fdc0f9bc76c11e44542f72f456d8d7ddffa0bd4621fe2ec79d8",
}


def test_the_same_seed_gives_the_known_bytes():
    found = {}
    for words in KNOWN:
        kind, *options = words.split()
        data, line = made(kind, "file", "--size", "100001", "-f", *options)
        found[words] = hashlib.sha256(data).hexdigest()
        expect(line["hash"], f"{xxh64(data):016x}")
    expect(found, KNOWN)


def test_checksum_of_small_files():
    for size in (0, 1, 4, 7, 8, 31, 32, 33, 63, 64, 100):
        data, line = made("random", "file", "--size", str(size), "-f")
        expect((len(data), line["hash"]), (size, f"{xxh64(data):016x}"))


def test_another_seed_gives_other_bytes():
    for kind in ("random", "text", "records", "typed"):
        first, _ = made(kind, "a" + kind, "--size", "50k")
        second, line = made(kind, "b" + kind, "--size", "50k", "--seed", "77")
        assert first[:1000] != second[:1000]
        expect(int(line["seed"], 16), 77)


def test_sizes():
    expect(len(made("text", "a")[0]), 10 << 20)
    expect(len(made("random", "b", "--size", "1")[0]), 1)
    expect(len(made("typed", "c", "--size", "100")[0]), 96)
    expect(len(made("text", "d", "--size", "0")[0]), 0)
    expect(len(made("text", "e", "--size", "1", "--newline", "crlf")[0]), 0)
    expect(len(made("text", "f", "--size", "1001", "--encoding", "utf16be")[0]), 1000)
    expect(len(made("records", "g", "--size", "4")[0]), 4)
    data = made("records", "h", "--size", "4.37MB")[0]
    assert 4_370_000 <= len(data) < 4_370_000 + 5206, len(data)


def test_lines():
    for item in (10, 66, 1000):
        data = made("text", "file", "--size", "1MB", "--item", str(item), "-f")[0]
        assert data.endswith(b"\n") and b"\r" not in data
        lengths = [len(line) + 1 for line in data[:-1].split(b"\n")]
        assert abs(sum(lengths) / len(lengths) - item) < item * 0.05, sum(lengths) / len(lengths)
        assert min(lengths[:-1]) >= item // 2 and max(lengths) <= item + item // 2, (min(lengths), max(lengths))
        assert len(set(lengths)) >= min(item, 600) * 0.8, len(set(lengths))


def test_newlines():
    data = made("text", "file", "--size", "100k", "--newline", "crlf")[0]
    assert data.endswith(b"\r\n")
    expect(data.count(b"\n"), data.count(b"\r\n"))
    expect(data.count(b"\r"), data.count(b"\r\n"))
    assert data.count(b"\n") > 1000


def test_encodings():
    for name, codec in (("utf8", "utf-8"), ("ascii", "ascii"), ("utf16le", "utf-16-le"), ("utf16be", "utf-16-be")):
        text = made("text", "file", "--size", "200k", "--encoding", name, "-f")[0].decode(codec)
        wide = sum(ord(c) > 127 for c in text) / len(text)
        assert wide == 0 if name == "ascii" else 0.008 < wide < 0.014, (name, wide)
        assert all(c == "\n" or c.isprintable() for c in text)
        assert text.endswith("\n")
    for name, codec in (("utf8", "utf-8-sig"), ("utf16le", "utf-16"), ("utf16be", "utf-16")):
        text = made("text", "file", "--size", "2k", "--encoding", name, "--bom", "-f")[0].decode(codec)
        assert "\ufeff" not in text and text.endswith("\n")
        plain = made("text", "file", "--size", "2k", "--encoding", name, "-f")[0]
        assert not plain.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))


def test_latin1_is_not_valid_utf8():
    data = made("text", "file", "--size", "100k", "--encoding", "latin1")[0]
    assert 0.008 < sum(byte > 127 for byte in data) / len(data) < 0.014
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    raise AssertionError("it is valid UTF-8")


def test_records_are_whole():
    data = made("records", "file", "--size", "1MB")[0]
    count, at = struct.unpack_from("<I", data)[0], 4
    for _ in range(count):
        length = shift = 0
        while True:
            byte = data[at]
            at, length, shift = at + 1, length | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        data[at:at + length].decode("utf-8")
        at += length
        at += 4 + struct.unpack_from("<I", data, at)[0]
    expect(at, len(data))
    assert 300 < count < 350, count


def test_typed_values():
    rows = list(struct.iter_unpack("<iidq", made("typed", "file", "--size", "240k")[0]))
    expect(len(rows), 240 * 1024 // 24)
    times = [row[3] for row in rows]
    expect(times, sorted(times))
    assert all(abs(row[2]) <= 2 ** 21 and 0 <= row[1] < 16 for row in rows)
    assert min(row[0] for row in rows) < 0 < max(row[0] for row in rows)


def test_compressible_within_two_percent():
    for share in (0, 0.25, 0.5, 0.9, 1):
        data = made("random", "file", "--size", "2MiB", "--compressible", str(share), "-f")[0]
        packed = len(zlib.compress(data, 6)) / len(data)
        assert abs(packed - (1 - share)) < 0.02, (share, packed)
    expect(made("random", "file", "--size", "2MiB", "--compressible", "25%", "-f")[0],
           made("random", "other", "--size", "2MiB", "--compressible", "0.25", "-f")[0])


def test_never_overwrites_unless_told():
    pathlib.Path("file").write_text("mine")
    refused("'file' exists; --force replaces it", "text", "file")
    expect(pathlib.Path("file").read_text(), "mine")
    expect(len(made("text", "file", "--force", "--size", "100")[0]), 100)
    expect(os.listdir("."), ["file"])


def test_what_is_no_plain_file_stays():
    os.mkfifo("fifo")
    os.mkdir("dir")
    os.symlink("target", "link")
    for name, words in (("fifo", "is a FIFO"), ("dir", "is a directory"), ("link", "is a symbolic link"),
                        ("dir/", "no name"), ("", "no name"), ("/dev/null", "is a character device"),
                        ("none/file", "No such file or directory"),
                        ("x" * 300, "File name too long")):
        refused(words, "text", name, "--force")


def test_odd_options_are_named():
    for words, *arguments in (
            ("say what to make", "text"), ("say what to make",), ("one file at a time", "text", "a", "b"),
            ("unknown kind 'texts' (did you mean 'text'?)", "texts", "a"), ("choose from random", "qqqqqqq", "a"),
            ("--item: only text has that", "random", "a", "--item", "5"), ("--item", "text", "a", "--item", "0"),
            ("--newline: only text", "records", "a", "--newline", "crlf"),
            ("--encoding: unknown value 'utf9' (did you mean 'utf8'?)", "text", "a", "--encoding", "utf9"),
            ("--bom: latin1 has no byte order mark", "text", "a", "--bom", "--encoding", "latin1"),
            ("--bom: only text", "typed", "a", "--bom"),
            ("--compressible: only random", "text", "a", "--compressible", "0.5"),
            ("--compressible", "random", "a", "--compressible", "1.5"),
            ("--size: one size at a time", "text", "a", "--size", "1,2"), ("--size", "text", "a", "--size", "-5"),
            ("are free there", "text", "a", "--size", "4000T"), ("--size: too large", "text", "a", "--size", "9000P"),
            ("--size: too large", "records", "a", "--size", "7000P"),
            ("--fragments: 8192 bytes have at most 2 pieces", "text", "a", "--size", "8k", "--fragments", "3"),
            ("--fragments", "text", "a", "--fragments", "0")):
        refused(words, *arguments)


def test_odd_names():
    for name in ("with space", "-dash", "new\nline", "\xe4", "x" * 255):
        done = weir("text", "--size", "10", "--", name)
        expect((done.returncode, done.stderr, done.stdout.count("\n")), (0, "", 1))
        expect(os.path.getsize(name), 10)


def test_an_interrupt_leaves_nothing():
    process = subprocess.Popen([WEIR, "make", "random", "file", "--size", "20GB"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while sum(entry.stat().st_size for entry in os.scandir(".")) < 1 << 20:
        if process.poll() is not None or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    if process.poll() is not None:
        text = process.stderr.read()
        if "are free there" in text:
            raise Skip("needs 20 GB")
        raise AssertionError(text)
    expect(os.path.exists("file"), False)
    process.send_signal(signal.SIGINT)
    expect(process.wait(timeout=30), 130)
    expect(process.stderr.read(), "weir: interrupted; nothing was made\n")
    process.stderr.close()
    expect(os.listdir("."), [])


def test_a_failed_write_leaves_nothing():
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
    pathlib.Path("file").write_text("mine")
    done = weir("text", "file", "--size", "9MiB", "--force", preexec_fn=limit)
    expect((done.returncode, done.stdout), (2, ""))
    expect(done.stderr, "weir: 'file' cannot be made: File too large\n")
    expect((os.listdir("."), pathlib.Path("file").read_text()), (["file"], "mine"))


def test_progress_on_a_terminal_only():
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(WEIR, [WEIR, "make", "random", "file", "--size", "600MB"])
    seen = b""
    try:
        while block := os.read(terminal, 65536):
            seen += block
    except OSError:  # the end of a terminal
        pass
    expect(os.waitpid(child, 0)[1], 0)
    os.close(terminal)
    assert re.search(rb"\r\[\d+%, [\d.]+ [KMG]iB/s\]\x1b\[K", seen), seen
    assert seen.rstrip().split(b"\x1b[K")[-1].startswith(b"file: random, 600000000 bytes"), seen[-200:]
    done = weir("random", "other", "--size", "1MB", "-q")
    expect((done.returncode, done.stdout, done.stderr), (0, "", ""))


def on_mount(script, *arguments, make="mkfs.ext4 -q image"):
    """Runs the script where `point` is a file system of its own, in a name space that takes the mount along when it ends."""
    if why_no_mounts():
        raise Skip(why_no_mounts())
    if make and not shutil.which(make.split()[0]):
        raise Skip(f"{make.split()[0]} is not installed")
    os.mkdir("point")
    mount = "mount -t tmpfs -o size=8m tmpfs point"
    if make:
        with open("image", "wb") as file:
            file.truncate(300 << 20)
        subprocess.run(make.split(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mount = "mount -o loop image point"
    done = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c",
                           f"{mount} || exit 99\n" + script, WEIR, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode == 99:
        raise Skip("cannot mount here: " + done.stderr.strip())
    return done


def pieces_seen(text):
    return int(re.search(r": (\d+) extents? found", text)[1])


def fragments_on(make):
    if not shutil.which("filefrag"):
        raise Skip("filefrag is not installed")
    done = on_mount("""set -e
        "$0" make text point/f --size 40MiB --fragments 100
        "$0" make text point/g --size 40MiB --fragments 1
        filefrag point/f point/g
        sha256sum point/f point/g
        ls -A point
        df --output=used -B1 point""", make=make)
    expect(done.returncode, 0)
    lines = done.stdout.splitlines()
    many, one = LINE.fullmatch(lines[0] + "\n"), LINE.fullmatch(lines[1] + "\n")
    expect([pieces_seen(lines[2]), pieces_seen(lines[3])], [int(many["extents"]), int(one["extents"])])
    assert int(many["extents"]) >= 95, (lines, done.stderr)
    assert int(one["extents"]) <= 3, lines
    expect(("instead of 100" in done.stderr), many["extents"] != "100")
    expect(lines[4].split()[0], lines[5].split()[0])
    expect([name for name in lines[6:-2] if name != "lost+found"], ["f", "g"])
    assert int(lines[-1]) < 110 << 20, ("the spacer is still there", lines[-1])


def test_fragments_on_ext4():
    fragments_on("mkfs.ext4 -q -b 4096 image")


def test_fragments_on_xfs():
    fragments_on("mkfs.xfs -q image")


def test_fragments_on_btrfs():
    fragments_on("mkfs.btrfs -q image")


def test_fragments_where_nothing_is_reserved():
    """ext3's way: no fallocate. Each piece is written and flushed in turn."""
    done = on_mount('"$0" make random point/f --size 4MiB --fragments 16 && filefrag point/f && ls -A point',
                    make="mkfs.ext4 -q -b 4096 -O ^extents,^64bit,^metadata_csum image")
    expect(done.returncode, 0)
    line, frag, *names = done.stdout.splitlines()
    expect(names, ["f", "lost+found"])
    expect(pieces_seen(frag), int(LINE.fullmatch(line + "\n")["extents"]))
    assert 2 <= pieces_seen(frag) <= 16, (frag, done.stderr)
    expect("instead of 16" in done.stderr, pieces_seen(frag) != 16)  # it keeps room behind each file for what comes next


def test_memory_has_no_fragments_and_a_note_says_so():
    done = on_mount('"$0" make text point/f --size 2MiB --fragments 16 && ls -A point', make=None)
    expect(done.returncode, 0)
    expect(done.stderr, "weir: note: the file lies in 1 piece instead of 16; tmpfs decides that itself\n")
    expect(done.stdout.splitlines()[1:], ["f"])


def test_no_room_for_the_spacer_leaves_nothing():
    done = on_mount('"$0" make text point/f --size 6MiB --fragments 16; echo $?; ls -A point', make=None)
    expect(done.stdout, "2\n")
    expect(done.stderr, "weir: 'point/f' cannot be made: No space left on device\n")


sys.exit(run_all(globals()))
