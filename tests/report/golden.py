#!/usr/bin/env python3
"""Makes golden.jsonl: a plausible run with seeded numbers. Two groups that were measured, one that did not fit; a twin, a
floor, methods that are not here, one that delivered wrong data, a cold file that would not go cold. Run it by hand when the
schema grows, then golden.sh --update."""
import json
import math
import random

GIB = 1 << 30
random.seed(20)


def cell(id, capabilities=0, twin=False, threads=1):
    method = id.split("[")[0].split("#")[0]
    params = []
    for param in (id[len(method) + 1 :].split("]")[0].split(",") if "[" in id else []):
        name, text = param.split("=")
        unit = {"KiB": 1 << 10, "MiB": 1 << 20}.get(text[-3:])
        value = int(text[:-3]) * unit if unit else int(text) if text.isdigit() else 1
        if name != "threads":
            params.append({"name": name, "value": value, "text": text, "fixed": False})
    return {"id": id, "method": method, "capabilities": capabilities, "params": params, "threads": threads, "place": 0,
            "twin": twin}


def demand(access, cache, size, request):
    return {"task": "blocks", "direction": "read", "access": access, "durability": "none", "target": "overwrite",
            "cache": cache, "process": "same", "consumer": "touch", "size_bytes": size, "request_bytes": request,
            "coverage": 1.0 if access == "sequential" else 0.25}


# id, capabilities, GiB/s, cpu share, faults per pass, status, reason, remedy
NO_RING = ("unavailable", "io_uring is disabled (kernel.io_uring_disabled=2)", "sysctl kernel.io_uring_disabled=0")
OK = ("ok", "", "")
WARM = [
    (cell("fd/pread[block=128KiB]"), 7.02, 0.9, 4, OK),
    (cell("fd/pread[block=1MiB]"), 6.71, 0.9, 4, OK),
    (cell("fd/read[block=128KiB]"), 7.0, 0.9, 4, OK),
    (cell("map/populate", 2), 9.41, 1.0, 16, OK),
    (cell("map/view[block=2MiB,hint=sequential]", 2), 9.3, 1.0, 1024, OK),
    (cell("stdio/fread[block=64KiB,setvbuf=64KiB]"), 5.1, 0.98, 6, OK),
    (cell("fd/pread[block=128KiB,threads=2]", threads=2), 9.2, 1.9, 8, OK),
    (cell("stdio/getc"), 0.0612, 1.0, 6, OK),
    (cell("ring/plain[block=256KiB,depth=8]", 8), 0, 0, 0, NO_RING),
    (cell("ring/plain[block=256KiB,depth=32]", 8), 0, 0, 0, NO_RING),
    (cell("direct/pread[block=1MiB]", 4), 0, 0, 0,
     ("unavailable", "the file system refuses O_DIRECT", "name another place with --dir")),
    (cell("plugin/\u001bcred"), 8.0, 1.0, 4, ("failed", "byte 4096 differs from what the file holds", "")),
    (cell("null", 1), 400.0, 1.0, 0, OK),
    (cell("fd/pread[block=128KiB]#twin", twin=True), 7.02, 0.9, 4, OK),
]
COLD = [
    (cell("fd/pread[block=4KiB]"), 0.031, 0.2, 4, OK),
    (cell("map/view[block=4KiB]", 2), 0.027, 0.25, 4096, OK),
    (cell("direct/pread[block=4KiB]", 4), 0.033, 0.15, 4, OK),
    (cell("direct/pread[block=4KiB,threads=8]", 4, threads=8), 0.21, 0.9, 8, OK),
    (cell("ring/direct[block=4KiB,depth=32]", 12), 0, 0, 0, NO_RING),
    (cell("fd/pread[block=4KiB]#twin", twin=True), 0.031, 0.2, 4, OK),
]
GROUPS = [
    ("read-sequential-warm", "read sequential, 64 MiB, warm", demand("sequential", "warm", 64 << 20, 0), WARM, 12, 4),
    ("read-random-4k-cold", "read random, 16 MiB, 4 KiB requests, cold", demand("random", "cold", 16 << 20, 4096), COLD, 6,
     1),
    ("write-sequential", "write sequential, 64 MiB", dict(demand("sequential", "warm", 64 << 20, 0), direction="write",
                                                         durability="end"), [(cell("fd/pwrite[block=1MiB]"), 1, 1, 1, OK)],
     0, 1),
]


def emit(type, **fields):
    print(json.dumps({"type": type, **fields}, separators=(",", ":"), ensure_ascii=False))


def header():
    groups = [{"id": id, "title": title, "demand": need, "priority": i, "size_fixed": False, "smallest_bytes": 1 << 20,
               "cells": [c for c, *_ in cells if not c["twin"]]} for i, (id, title, need, cells, _, _) in enumerate(GROUPS)]
    plan = {"rounds": 0, "time_ns": 60 * 10**9, "fill_time": False, "margin": 0.03, "flush": "dontneed", "rank_by": "time",
            "latency": False, "suite": "default", "file": None, "places": ["."], "groups": groups}
    facts = {"weir.version": "0.1.0", "system": "Linux", "kernel": "6.12.9", "hypervisor": "KVM", "cpus": 2,
             "memory_bytes": 4 * GIB, "place.0.path": ".", "place.0.file_system": "ext4", "place.0.device": "nvme0n1",
             "place.0.ram_backed": 0}
    emit("header", schema=1, weir="0.1.0", seed="0x00000000005eed01", argv=["weir", "bench"], plan=plan, environment=facts)


def found(group, rounds, passes):
    id, title, need, cells, _, _ = group
    told = []
    for c, _, _, _, (status, reason, remedy) in cells:
        told.append({"id": c["id"], "status": status, "reason": reason, "remedy": remedy, **(c if c["twin"] else {})})
    emit("found", group=id, title=title, size_bytes=need["size_bytes"], passes=passes, rounds=rounds,
         round_cost_ns=10**9, baseline=cells[0][0]["id"], dropped=rounds == 0,
         drop_reason="" if rounds else "did not fit into 1 min; give more --time", cells=told)


def sample(group, cell, position, round, before, clock):
    id, title, need, cells, rounds, passes = group
    c, rate, cpu, faults, (status, _, _) = cell
    work = need["size_bytes"] * need["coverage"]
    request = next((p["value"] for p in c["params"] if p["name"] == "block"), 1 << 20)
    noise = math.exp(random.gauss(0, 0.012) + 0.02 * math.sin(round))
    run_ns = int(work * passes / (rate * GIB) * 1e9 * noise)
    cold = need["cache"] == "cold"
    stuck = cold and round == 2 and position == 1
    delivered = int(work * passes)
    fields = dict(schema=1, cell=c["id"], group=id, round=round, position=position, predecessor=before, start_ns=clock,
                  passes=passes, operations=delivered // request, bytes=delivered,
                  phases={"open_ns": 9000, "run_ns": run_ns, "sync_ns": 0, "close_ns": 4000}, setup_ns=52000,
                  prepare_ns=31000000, cpu_ns=int(run_ns * cpu), minor_faults=faults * passes, major_faults=0,
                  voluntary_switches=3, involuntary_switches=1, peak_bytes=3 << 20,
                  resident_before=0.25 if stuck else 0.0 if cold else 1.0, resident_after=0.25 if cold else 1.0,
                  device_read_bytes=delivered if cold else 0, device_write_bytes=0, flushes=None, foreign_bytes=0,
                  steal_ns=0, checksum="0x00000000deadbeef", status="failed" if status == "failed" else "ok",
                  reason="byte 4096 differs from what the file holds" if status == "failed" else None,
                  flags=(["pilot"] if round < 0 else ["burn-in"] if round == 0 else []) + (["not-cold"] if stuck else []))
    emit("sample", **fields)
    return run_ns


def rounds():
    clock = 10**12
    for round in range(-1, 13):
        for group in GROUPS:
            id, title, need, cells, count, passes = group
            usable = [c for c in cells if c[-1][0] == "ok" or (round < 0 and c[-1][0] == "failed")]
            usable = [c for c in usable if round >= 0 or not c[0]["twin"]]
            if count == 0 or round > count:
                continue
            random.shuffle(usable)
            before = None
            for position, c in enumerate(usable):
                clock += sample(group, c, position, round, before, clock) + 35 * 10**6
                before = c[0]["id"]
        if round < 0:
            for group in GROUPS:
                found(group, group[4], group[5])


header()
emit("floors", harness_ns_per_op=5.125, harness_latency_ns_per_op=31.5, clock_read_ns=21.75, clock_step_ns=1.0,
     syscall_ns=92.5, page_fault_ns=251.0, huge_page_fault_ns=61000.0, memcpy_bytes_per_s=11.5 * GIB,
     scan_bytes_per_s=13.25 * GIB)
rounds()
emit("trailer", interrupted=False, warnings=[
    {"id": "W03", "text": "this is a guest (KVM): 'guest-cold' data may still be in the host's cache",
     "remedy": "for the disk itself, measure on bare metal or read more than the host's memory"},
    {"id": "W05", "text": "1 of 30 samples wanted a cold file, but 1 % or more of it stayed in the cache",
     "remedy": "close other programs that use the file; as root, --flush=drop"}])
