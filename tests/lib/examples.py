#!/usr/bin/env python3
"""Runs the programs of docs/examples and looks at what they print and leave: examples.py FOLDER SOURCE.

FOLDER holds the built programs, SOURCE is docs/examples. Each is below 50 lines; what each does with a file that is not there,
and with wrong arguments, is looked at too.
"""
import os
import stat
import struct
import subprocess
import sys
import tempfile

FOLDER, SOURCE = sys.argv[1], sys.argv[2]


def run(name, *arguments, status=0):
    result = subprocess.run([os.path.join(FOLDER, name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert result.returncode == status, (name, arguments, result)
    return result.stdout if status == 0 else result.stderr


def put(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def get(name):
    with open(name, "rb") as file:
        return file.read()


def read_file():
    data = bytes(range(256)) * 5000 + b"end"
    assert run("read_file", put("data", data)) == data
    assert run("read_file", put("data", b"")) == b""
    assert run("read_file", "missing", status=1) == b"open missing: no such file or directory\n"


def count_words():
    text = b"one two\r\n\n  three\tfour \nfive" + b"\nsix" * 100000
    assert run("count_words", put("data", text)) == b"100004 lines, 100005 words\n"
    assert run("count_words", put("data", b"")) == b"0 lines, 0 words\n"
    assert run("count_words", "missing", status=1) == b"missing: no such file or directory\n"


def filter_text():
    lines = [b"ERROR %d" % i if i % 3 else b"fine %d" % i for i in range(100000)]
    run("filter_text", "ERROR ", put("data", b"\n".join(lines)), "out")
    assert get("out") == b"".join(line[6:] + b"\n" for line in lines if line.startswith(b"ERROR "))
    run("filter_text", "ERROR ", put("data", b""), "out")
    assert get("out") == b""
    put("out", b"old")
    assert b"no such file" in run("filter_text", "ERROR", "missing", "out", status=1)
    assert get("out") == b"old"


def sum_records():
    records = [(b"name %d" % i, i * 40000) for i in range(5000)]
    data = b"".join(struct.pack("<B", len(name)) + name + struct.pack("<I", number % 2**32) for name, number in records)
    expected = b"%d\n" % sum(number % 2**32 for _, number in records)
    assert run("sum_records", put("data", data)) == expected
    assert run("sum_records", put("data", b"")) == b"0\n"
    assert run("sum_records", put("data", data[:-1]), status=1) == b"data: ends too early\n"
    assert run("sum_records", put("data", data[:-4]), status=1) == b"data: ends too early\n"
    assert run("sum_records", put("data", b"\xff"), status=1) == b"data: ends too early\n"


def typed_values():
    assert run("typed_values", "data") == b"1000 points, sums 499500.0 and 249750.0\n"
    assert get("data") == b"".join(struct.pack("=dd", i, i / 2) for i in range(1000))


def random_reads():
    blocks = 64
    run("random_reads", put("data", b"\x01" * 4096 * blocks))
    assert run("random_reads", "data") == b"no error, sum 1000\n"
    data, value, expected = bytearray(4096 * blocks), 1, 0
    for block in range(blocks):
        data[block * 4096] = block
    for _ in range(1000):
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        expected += (value >> 33) % blocks
    assert run("random_reads", put("data", bytes(data))) == b"no error, sum %d\n" % expected
    run("random_reads", put("data", b"small"), status=1)
    run("random_reads", "missing", status=1)


def big_write():
    run("big_write", "data", "300000")
    assert get("data") == b"".join(b"%015d\n" % i for i in range(300000))
    assert b"no such file or directory" in run("big_write", "missing/data", "1", status=1)


def atomic_save():
    for number in range(1, 4):
        run("atomic_save", "counter")
        assert get("counter") == b"%d\n" % number
    os.chmod("counter", 0o640)
    run("atomic_save", "counter")
    assert stat.S_IMODE(os.stat("counter").st_mode) == 0o640
    put("counter", b"9" * 100)
    run("atomic_save", "counter", status=1)
    assert get("counter") == b"9" * 100
    os.remove("counter")
    run("atomic_save", "counter")
    assert [name for name in os.listdir(".") if name.startswith(".counter")] == []


def copy_to_many():
    for folder in ("a", "b", "c"):
        os.mkdir(folder)
    put("one", b"1" * 3000000)
    put("two", b"")
    out = run("copy_to_many", "one", "two", "--to", "a", "b", "c")
    assert out.count(b"verified") + out.count(b"copied") == 6, out
    for folder in ("a", "b", "c"):
        assert get(folder + "/one") == b"1" * 3000000 and get(folder + "/two") == b""
        assert sorted(os.listdir(folder)) == ["one", "two"]
    result = subprocess.run([os.path.join(FOLDER, "copy_to_many"), "one", "--to", "a", "missing"], stdout=subprocess.PIPE, check=False)
    assert result.returncode == 1 and b"one to missing: no such file or directory" in result.stdout, result
    assert b"one to a: verified" in result.stdout or b"one to a: copied" in result.stdout


EXAMPLES = [read_file, count_words, filter_text, sum_records, typed_values, random_reads, big_write, atomic_save, copy_to_many]


def main():
    sources = sorted(name[:-2] for name in os.listdir(SOURCE) if name.endswith(".c"))
    assert sources == sorted(example.__name__ for example in EXAMPLES), sources
    for example in EXAMPLES:
        lines = get(os.path.join(SOURCE, example.__name__ + ".c")).count(b"\n")
        assert lines < 50, (example.__name__, lines)
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="weir-test-") as folder:
            os.chdir(folder)
            run(example.__name__, status=1 if example is random_reads else 2)
            example()
            os.chdir("/")
        print(example.__name__, "as it should be")


main()
