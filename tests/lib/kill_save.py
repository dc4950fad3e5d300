#!/usr/bin/env python3
"""Kills a program that saves a file over and over: kill_save.py SAVE_LOOP [ROUNDS].

After each kill -9 at a random moment the file must be one that was saved, whole, and nothing may lie beside it but the
documented temporary names; the next save removes those. Half of the rounds save durably. Exit status 1 if not.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

LONGEST_S = 0.02  # several saves, so that the kill hits every part of one
TEMPORARY = re.compile(r'\.file\.weir-[0-9A-Za-z]{6}$')


def is_whole(data):
    if not re.fullmatch(rb'\d{8}', data[:8]):
        return False
    number = int(data[:8])
    return data[8:] == bytes([ord('a') + number % 26]) * (number * 7919 % 60000)


def problems(directory, must_exist, may_leave):
    path = os.path.join(directory, 'file')
    if os.path.exists(path):
        with open(path, 'rb') as file:
            data = file.read()
        if not is_whole(data):
            yield f'the file is not whole: {len(data)} bytes, begins with {data[:8]}'
    elif must_exist:
        yield 'the file is gone'
    for name in os.listdir(directory):
        if name != 'file' and not (may_leave and TEMPORARY.match(name)):
            yield f'{name} is left behind'


def one_round(program, directory, kind, number):
    """What went wrong, and whether a temporary file was left by the kill."""
    path = os.path.join(directory, 'file')
    with subprocess.Popen([program, path, '0', kind], stdout=subprocess.PIPE) as saver:
        if number % 4:  # the others may be hit within the first save
            saver.stdout.readline()
        time.sleep(random.random() * LONGEST_S)
        saver.kill()
    found = list(problems(directory, number > 0, True))
    left = len(os.listdir(directory)) > 1
    if number % 3 == 0:  # else the next round's program has to clear it
        subprocess.run([program, path, '1', kind], stdout=subprocess.DEVNULL, check=True)
        found += problems(directory, True, False)
    return found, left


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int.from_bytes(os.urandom(4), 'little')
    random.seed(seed)
    kills_inside = 0
    with tempfile.TemporaryDirectory(prefix='kill-save-', dir='.') as directory:
        for number in range(rounds):
            found, left = one_round(program, directory, 'durable' if number % 2 else 'plain', number)
            kills_inside += left
            if found:
                print(f'round {number}, seed {seed}:', *found, sep='\n  ')
                return 1
    print(f'{rounds} kills, {kills_inside} of them left a temporary file, and the next save removed it')
    return 0


if __name__ == '__main__':
    sys.exit(main())
