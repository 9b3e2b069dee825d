#!/usr/bin/env python3
"""clang-tidy with the project's .clang-tidy over our own sources, in parallel.

    tools/clang_tidy.py BUILD              all files of BUILD/compile_commands.json
    tools/clang_tidy.py BUILD --changed    only files that differ from the last commit
    tools/clang_tidy.py BUILD src/align    only files below these paths

Findings go to stdout, once each; exit 1 when there are any. The version is pinned, because other
versions know other checks. Needs a configured build, not a finished one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = '14'
ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ('src/', 'apps/')


def program():
    for name in (f'clang-tidy-{VERSION}', 'clang-tidy'):
        found = shutil.which(name)
        if found and f'version {VERSION}.' in subprocess.run(
                [found, '--version'], capture_output=True, text=True).stdout:
            return found
    return None


def sources(build):
    """Our translation units as paths from the top."""
    with open(build / 'compile_commands.json', encoding='utf-8') as file:
        entries = json.load(file)
    paths = set()
    for entry in entries:
        path = pathlib.Path(entry['directory'], entry['file']).resolve()
        if path.is_relative_to(ROOT):
            paths.add(path.relative_to(ROOT).as_posix())
    return sorted(p for p in paths if p.startswith(OURS))


def changed():
    """Files that differ from the last commit; new ones included."""
    git = ['git', '-C', str(ROOT)]
    names = subprocess.run(git + ['diff', '--name-only', 'HEAD'], capture_output=True, text=True,
                           check=True).stdout
    names += subprocess.run(git + ['ls-files', '--others', '--exclude-standard'],
                            capture_output=True, text=True, check=True).stdout
    return set(names.split())


def tidy(clang_tidy, build, path):
    result = subprocess.run(
        [clang_tidy, '--quiet', '-p', str(build),
         # The sources are compiled with GCC, whose warning names clang does not all know.
         '--extra-arg=-Wno-unknown-warning-option', str(ROOT / path)],
        capture_output=True, text=True)
    found = re.findall(r'^(\S+?:\d+:\d+: (?:error|warning): .*)$', result.stdout, re.M)
    if result.returncode and not found:
        found = [f'{path}:1:1: error: clang-tidy failed: {result.stderr.strip()[-500:]}']
    return [line.replace(str(ROOT) + os.sep, '') for line in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('below', nargs='*', help='only files below these paths')
    parser.add_argument('--changed', action='store_true')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    clang_tidy = program()
    if clang_tidy is None:
        print(f'clang-tidy {VERSION} not found (install clang-tidy-{VERSION})', file=sys.stderr)
        return 1
    if not (args.build / 'compile_commands.json').exists():
        print(f'{args.build} has no compile_commands.json (run cmake first)', file=sys.stderr)
        return 1
    files = sources(args.build)
    if args.changed:
        differing = changed()
        files = [f for f in files if f in differing]
    if args.below:
        files = [f for f in files if f.startswith(tuple(args.below))]
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for lines in pool.map(lambda path: tidy(clang_tidy, args.build, path), files):
            findings.update(lines)
    for line in sorted(findings):
        print(line)
    print(f'clang-tidy: {len(files)} files, {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
