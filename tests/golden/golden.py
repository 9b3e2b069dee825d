#!/usr/bin/env python3
"""Compares an event stream with the committed one.

    golden.py PROGRAM chain.jsonl     the lines PROGRAM prints against tests/golden/chain.jsonl

With SACCADE_RENEW_GOLDEN=1 the committed file is written anew instead; its diff in git then shows
what a change of ours means to a reader of events. Used by ctest and by tests/e2e/test_golden.py.
"""
import difflib
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def difference(lines, name):
    """Empty when `lines` are those of the committed file `name`, else a unified diff."""
    path = FOLDER / name
    if os.environ.get("SACCADE_RENEW_GOLDEN") == "1":
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    committed = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(difflib.unified_diff(committed, lines, f"committed {name}", "now", lineterm=""))


def main():
    program, name = sys.argv[1:]
    told = subprocess.run([program], capture_output=True, check=True, timeout=60).stdout
    found = difference(told.decode().splitlines(), name)
    if found:
        sys.exit(f"{found}\nIf this is meant: see tests/golden/README.md")


if __name__ == "__main__":
    main()
