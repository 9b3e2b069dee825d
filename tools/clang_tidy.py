#!/usr/bin/env python3
"""clang-tidy with the project's .clang-tidy over our own sources, in parallel.

    tools/clang_tidy.py BUILD              all files of BUILD/compile_commands.json
    tools/clang_tidy.py BUILD --changed    only files that differ from the last commit
    tools/clang_tidy.py BUILD src/align    only files below these paths

Findings go to stdout as they come, once each; exit 1 when there are any. The version is pinned,
because other versions know other checks. Needs a configured build, not a finished one.

Files found clean are remembered by what the verdict hangs on (see key()), so a second run only looks
at what changed. Memory: empty files in $SACCADE_TIDY_CACHE, else ~/.cache/saccade-tidy; those unused
for 60 days go. --no-cache looks at everything and remembers nothing.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpp_text  # noqa: E402

VERSION = '14'
ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ('src/', 'apps/', 'tests/')
CACHE_DAYS = 60


def program():
    for name in (f'clang-tidy-{VERSION}', 'clang-tidy'):
        found = shutil.which(name)
        if found and f'version {VERSION}.' in subprocess.run(
                [found, '--version'], capture_output=True, text=True).stdout:
            return found
    return None


def sources(build):
    """Our translation units, as paths from the top, and their compile commands."""
    with open(build / 'compile_commands.json', encoding='utf-8') as file:
        entries = json.load(file)
    commands = {}
    for entry in entries:
        path = pathlib.Path(entry['directory'], entry['file']).resolve()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ''
        if name.startswith(OURS):
            commands[name] = entry['command']
    return commands


def changed():
    """Files that differ from the last commit; new ones included."""
    git = ['git', '-C', str(ROOT)]
    names = subprocess.run(git + ['diff', '--name-only', 'HEAD'], capture_output=True, text=True,
                           check=True).stdout
    names += subprocess.run(git + ['ls-files', '--others', '--exclude-standard'],
                            capture_output=True, text=True, check=True).stdout
    return set(names.split())


@functools.cache
def read(path, _changed_ns):
    """Hash of a file and what it includes in quotes."""
    data = path.read_bytes()
    quoted = [h for _, quotes, h in cpp_text.includes(data.decode(errors='replace')) if quotes]
    return hashlib.sha256(data).hexdigest(), quoted


def key(path, command, build, version):
    """Hash of all a verdict hangs on: the file and what it includes in quotes, directly or not, how it
    is compiled (wherever the checkout lies), the checks, the program, the pinned dependencies."""
    folders = [pathlib.Path(word[2:]) for word in shlex.split(command) if word.startswith('-I')]
    files = {}
    waiting = [ROOT / path, ROOT / '.clang-tidy', ROOT / 'third_party/versions.toml',
               pathlib.Path(__file__).resolve()]
    while waiting:
        file = waiting.pop()
        if file in files:
            continue
        files[file], included = read(file, file.stat().st_mtime_ns)
        for header in included if file.suffix in ('.h', '.cpp') else ():
            places = (folder / header for folder in [file.parent, *folders])
            waiting += [place for place in places if place.is_file()][:1]

    def anywhere(text):
        return text.replace(str(build.resolve()), 'BUILD').replace(str(ROOT), 'ROOT')
    parts = [version, anywhere(command), *sorted(f'{anywhere(str(f))} {files[f]}' for f in files)]
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


class Memory:
    """Keys of files found clean."""

    def __init__(self, folder):
        self.folder = folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def knows(self, name):
        path = self.folder / name if self.folder else None
        if path is None or not path.exists():
            return False
        path.touch()
        return True

    def add(self, name):
        if self.folder:
            (self.folder / name).touch()

    def forget_unused(self):
        oldest = time.time() - CACHE_DAYS * 86400
        for path in self.folder.iterdir() if self.folder else ():
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('below', nargs='*', help='only files below these paths')
    parser.add_argument('--changed', action='store_true')
    parser.add_argument('--no-cache', action='store_true')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def chosen(args, commands):
    files = sorted(commands)
    if args.changed:
        differing = changed()
        files = [f for f in files if f in differing]
    if args.below:
        files = [f for f in files if f.startswith(tuple(args.below))]
    return files


def main():
    args = arguments()
    clang_tidy = program()
    if clang_tidy is None:
        print(f'clang-tidy {VERSION} not found (install clang-tidy-{VERSION})', file=sys.stderr)
        return 1
    if not (args.build / 'compile_commands.json').exists():
        print(f'{args.build} has no compile_commands.json (run cmake first)', file=sys.stderr)
        return 1
    place = os.environ.get('SACCADE_TIDY_CACHE') or '~/.cache/saccade-tidy'
    memory = Memory(None if args.no_cache else pathlib.Path(place).expanduser())
    version = subprocess.run([clang_tidy, '--version'], capture_output=True, text=True).stdout
    commands = sources(args.build)
    files = chosen(args, commands)

    def key_of(path):
        return key(path, commands[path], args.build, version)
    keys = {f: key_of(f) for f in files}
    waiting = [f for f in files if not memory.knows(keys[f])]
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, lines in zip(waiting, pool.map(
                lambda path: tidy(clang_tidy, args.build, path), waiting)):
            for line in sorted(set(lines) - findings):
                print(line, flush=True)
            findings.update(lines)
            if not lines and key_of(path) == keys[path]:  # nobody wrote to it meanwhile
                memory.add(keys[path])
    memory.forget_unused()
    print(f'clang-tidy: {len(files)} files, {len(files) - len(waiting)} known to be clean, '
          f'{len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
