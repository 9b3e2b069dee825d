#!/usr/bin/env python3
"""House rules a compiler does not check: borders, sizes, banned calls, dead files, form.

    tools/tidy.py                 check the whole tree; exit 1 when something is found
    tools/tidy.py --fix-format    let clang-format rewrite what it would complain about
    tools/tidy.py --no-format     all rules but the slow one

One line per finding: `path:line: rule: message`. A rule is broken only with an entry in EXCEPTIONS
that says why. What clang-tidy checks is in tools/clang_tidy.py.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpp_text  # noqa: E402

# The one file that must read like the picture of the pipeline.
PICTURE, PICTURE_LINES_MAX = 'src/session/wiring.cpp', 150
LINES_MAX, FUNCTION_LINES_MAX, FILE_BYTES_MAX = 800, 70, 1_000_000
COLUMNS_MAX, SCRIPT_COLUMNS_MAX = 100, 120  # C++, and everything else
CLANG_FORMAT_VERSION = '14'
SKIPPED_FOLDERS = {'build', '.git', '.cache', '__pycache__', '.pytest_cache', 'node_modules'}
CPP = {'.h', '.cpp'}
SCRIPT = {'.ts', '.css'}
CODE = CPP | SCRIPT | {'.py', '.sh', '.cmake', '.txt'}
TEXT = CODE | {'.md', '.toml', '.json', '.yml', '.yaml', '.jsonl'}

# (rule, path pattern, reason). The only way to break a rule.
EXCEPTIONS = [
    ('borders', 'apps/saccade/*.cpp: ingest/ingest.h',
     'the hidden subcommand `decode-worker` is the body of the sandboxed child'),
    ('columns', 'models/mini/*.py', 'a record of how the weights were trained, kept as it was run'),
    ('lines', 'models/mini/*.py', 'the same'),
    ('space', 'models/mini/tokenizer.json', 'written by a tool'),
    ('space', 'tests/fuzz/corpus/*', 'inputs of fuzzers, every byte matters'),
    ('columns', 'tests/fuzz/corpus/*', 'the same'),
    ('leftover', 'tests/fuzz/corpus/*', 'the same'),
    ('columns', 'console/dist/*', 'written by a tool'),
    ('space', 'console/dist/*', 'the same'),
    ('bytes', 'models/mini/*.gguf', 'the bundled default model'),
    ('bytes', 'models/mini/fonts/*', 'fonts the sample and the model were made with'),
]

# Which headers a room may include besides its own: rooms by name, single headers by path.
_TYPES = ['ingest/ingest_types.h', 'align/align_types.h', 'perceive/perceive_types.h',
          'attend/attend_types.h', 'decode/decode_types.h', 'emit/emit_types.h']
STAGES = ['ingest', 'align', 'perceive', 'attend', 'decode', 'emit']
BORDERS = {
    'core': [],
    'telemetry': ['core'],
    'engine': ['core', 'telemetry'],
    'governor': ['core', 'telemetry'],
    'ingest': ['core', 'telemetry'],
    'align': ['core', 'telemetry'] + _TYPES[:1],
    'perceive': ['core', 'telemetry', 'engine'] + _TYPES[:2],
    'attend': ['core', 'telemetry', 'engine'] + _TYPES[:3],
    'decode': ['core', 'telemetry', 'engine'] + _TYPES[:4],
    'emit': ['core', 'telemetry'] + _TYPES[:5],
    'session': ['core', 'telemetry', 'engine', 'governor'] + STAGES,
    'transport': ['core', 'telemetry', 'session', 'emit/emit_types.h'],
    'apps': ['core', 'telemetry', 'session', 'transport', 'emit', 'engine/load.h', 'governor/policy.h'],
}

# Headers of outside code and the only places that may include them.
OUTSIDE = [
    (r'lib(av\w+|sw\w+|postproc)/', ['ingest'], 'FFmpeg'),
    (r'(ggml|gguf|llama|mtmd|clip|whisper)[\w-]*\.h(pp)?$|jinja/', ['engine'], 'ggml'),
    (r'(openvino|opencv2)/', ['perceive'], 'OpenVINO and OpenCV'),
    (r'nlohmann/|simdjson|rapidjson/', ['transport'], 'JSON'),
    (r'boost/(beast|asio)|httplib\.h|curl/', ['transport'], 'HTTP'),
    (r'libyuv', ['ingest'], 'libyuv'),
    (r'jpeglib\.h', ['transport'], 'libjpeg'),
    (r'CLI/', ['apps'], 'flags'),
]

_SYSTEM_CLOCK = ['src/core/system_clock.cpp']
# Programs of their own: the decode worker and helpers that tests start.
_PROGRAMS = ['apps/*', '*_main.cpp', 'src/ingest/*worker*.cpp', 'src/ingest/sandbox.cpp']
_TESTS = ['*_test.cpp']
# (pattern over code without comments and strings, message, where it is allowed). A match of the
# group `owned` is fine everywhere.
BANNED = [
    (r'\b(system_clock|steady_clock|high_resolution_clock)::now\b|\bgettimeofday\s*\('
     r'|\bclock_gettime\s*\(|(?<![\w.>])(std::|::)?time\s*\(\s*(nullptr|NULL|0|&)',
     'asks the system for time (use the core::Clock that is handed in)', _SYSTEM_CLOCK),
    (r'\bsleep_(for|until)\b|\b(usleep|nanosleep)\s*\(',
     'sleeps (use core::Clock::sleep_us or a wait with a deadline)', _SYSTEM_CLOCK),
    (r'\bstd::rand\b|\bs?rand\s*\(|\brandom_device\b|\bmt19937',
     'draws randomness (use the core::Rng that is handed in)', []),
    (r'\b(secure_)?getenv\s*\(', 'reads the environment (use an option set by apps)', ['apps/*']),
    (r'(?<![\w.>])(std::|::)?(v?f?printf|puts|fputs|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b',
     'prints (return a core::Status or an event)', ['apps/*', '*_main.cpp']),
    # `unique_ptr<T>(new T(...))` stays: make_unique cannot reach a private constructor.
    (r'(?P<owned>\bunique_ptr<[^;{}()]*>\s*\w*[({]\s*)?\bnew\s+[\w:(<]',
     'raw new (use std::make_unique or a container)', []),
    (r'(?<!operator )\bdelete\b\s*(\[\s*\])?\s*[\w(*:]', 'raw delete (use std::unique_ptr)', []),
    (r'(?<![\w.>])(std::|::)?(_exit|_Exit|exit|quick_exit|abort|terminate)\s*\(',
     'ends the process (return a core::Status)', _PROGRAMS + _TESTS),
    (r'(?<!\w)(v?sprintf|strcpy|strcat|gets|strtok|atoi|atof)\s*\(',
     'unbounded or unchecked C call (use std::string, snprintf, std::from_chars)', []),
    (r'(?<![\w.>:])(::)?(bind|listen|accept4?)\s*\(\s*\w*(fd|sock)',
     'serves a socket (only transport does)', ['src/transport/*'] + _TESTS),
]

# Texts of events are hostile: nothing in the console may turn a string into markup or code, keep a
# key beyond the tab, or name another server. The content policy of the page says the same.
CONSOLE_BANNED = [
    (r'\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc',
     'makes markup of a string (use el() of dom.ts)'),
    (r'\beval\s*\(|new\s+Function\b|set(Timeout|Interval)\(\s*[\'"`]', 'runs a string as code'),
    (r'\bnew EventSource\b|\bdocument\.cookie\b', 'cannot send a key as a header (use Api)'),
    (r'[\'"`(](https?:)?//\w', 'names another server'),
]

_MARKS = re.compile(r'\b(' + '|'.join(['TO' 'DO', 'FIX' 'ME', 'XX' 'X']) + r')\b')
_DEAD_CODE = re.compile(
    r'^\s*(?:(?:[\w:<>*&]+\s+)?[\w:.\[\]>-]+\s*(?:\([^()]*(?:\([^()]*\))?[^()]*\)|[+*/|&-]?=\s*\S+'
    r'.*);|(?:if|for|while|switch)\s*\(.*\)\s*\{?|return\b[^.]*;|#\s*include\b.*|\}\s*(?:else.*)?)'
    r'\s*$')


class Tree:
    """The files of a checkout and what was found in them."""

    def __init__(self, root, exceptions=None):
        self.root = pathlib.Path(root)
        self.exceptions = EXCEPTIONS if exceptions is None else exceptions
        self.findings = []
        self.files = sorted(self._walk())

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
            for name in names:
                yield pathlib.Path(folder, name).relative_to(self.root).as_posix()

    def text(self, path):
        return (self.root / path).read_text(encoding='utf-8', errors='replace')

    def of_kind(self, suffixes):
        return [f for f in self.files if pathlib.PurePosixPath(f).suffix in suffixes]

    def cpp(self):
        return [f for f in self.of_kind(CPP) if not f.startswith('third_party/')]

    def find(self, rule, path, line, message, about=''):
        for excepted, pattern, _ in self.exceptions:
            if excepted == rule and fnmatch.fnmatch(f'{path}: {about}' if ': ' in pattern else path,
                                                    pattern):
                return
        self.findings.append((path, line, rule, message))


def room_of(path):
    parts = path.split('/')
    if parts[0] == 'apps':
        return 'apps'
    return parts[1] if parts[0] == 'src' and len(parts) > 2 else None


def check_borders(tree):
    for path in tree.cpp():
        room = room_of(path)
        if room is None:
            continue
        if room not in BORDERS:
            tree.find('borders', path, 1, f'unknown room "{room}" (add it to BORDERS)')
            continue
        allowed = BORDERS[room]
        for line, quoted, header in cpp_text.includes(tree.text(path)):
            other = header.split('/')[0]
            if quoted and other in BORDERS and other != room:
                if other not in allowed and header not in allowed:
                    tree.find('borders', path, line,
                              f'{room} may not include "{header}" (allowed: '
                              f'{", ".join(allowed) or "nothing"})', header)
            for pattern, rooms, name in OUTSIDE:
                if re.match(pattern, header) and room not in rooms:
                    tree.find('borders', path, line, f'{name} header <{header}> outside of '
                              f'{" and ".join(rooms)} (use that room\'s interface)', header)


def check_sizes(tree):
    for path in tree.of_kind(CODE):
        lines = tree.text(path).splitlines()
        columns_max = COLUMNS_MAX if path.endswith(('.h', '.cpp')) else SCRIPT_COLUMNS_MAX
        lines_max = PICTURE_LINES_MAX if path == PICTURE else LINES_MAX
        if len(lines) > lines_max:
            tree.find('lines', path, 1, f'{len(lines)} lines, at most {lines_max} (split by duty)')
        for number, line in enumerate(lines, 1):
            if len(line) > columns_max and 'http' not in line:
                tree.find('columns', path, number, f'{len(line)} columns, at most {columns_max}')
    for path in tree.cpp():
        for first, last, name in cpp_text.functions(tree.text(path)):
            count = last - first + 1
            if count > FUNCTION_LINES_MAX:
                tree.find('function', path, first, f'{name} has {count} lines, at most '
                          f'{FUNCTION_LINES_MAX} (move a step into a helper)')


def check_banned(tree):
    for path in tree.cpp():
        if room_of(path) is None:
            continue
        code = cpp_text.code_only(tree.text(path))
        for pattern, message, places in BANNED:
            if any(fnmatch.fnmatch(path, place) for place in places):
                continue
            for match in re.finditer(pattern, code):
                if match.groupdict().get('owned'):
                    continue
                tree.find('banned', path, cpp_text.line_of(code, match.start()),
                          f'`{" ".join(match.group(0).split())}` {message}')


def check_console(tree):
    for path in tree.files:
        if not path.startswith('console/src/') or not path.endswith(('.ts', '.css')):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for pattern, message in CONSOLE_BANNED:
                match = re.search(pattern, line)
                if match:
                    tree.find('console', path, number, f'`{match.group(0)}` {message}')


def check_leftovers(tree):
    for path in tree.of_kind(CODE):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            mark = _MARKS.search(line)
            if mark:
                tree.find('leftover', path, number, f'{mark.group(1)} (do it, or file an issue)')
    for path in tree.cpp():
        text = tree.text(path)
        for line, comment in cpp_text.comments(text):
            if _DEAD_CODE.match(comment):
                tree.find('leftover', path, line, 'commented-out code (delete it; git keeps it)')
        for match in re.finditer(r'^[ \t]*#[ \t]*if[ \t]+0\b', text, re.M):
            tree.find('leftover', path, cpp_text.line_of(text, match.start()),
                      '#if 0 (delete it; git keeps it)')


def check_targets(tree):
    """Each .cpp must be named, by its path or the end of it, in some CMake file above it."""
    named = {}
    for path in tree.files:
        if path.endswith(('CMakeLists.txt', '.cmake')):
            text = re.sub(r'#[^\n]*', '', tree.text(path))
            tokens = re.findall(r'[\w./${}-]+\.cpp\b', text)
            named[path] = {re.sub(r'\$\{\w+\}/?', '', token) for token in tokens}
    for path in tree.cpp():
        if not path.endswith('.cpp') or path.split('/')[0] not in ('src', 'apps', 'tests'):
            continue
        above = [tokens for cmake, tokens in named.items()
                 if path.startswith(os.path.dirname(cmake) + '/') or '/' not in cmake]
        if not any(('/' + path).endswith('/' + token) for tokens in above for token in tokens):
            tree.find('targets', path, 1, 'in no CMake target (add it, or delete the dead file)')


def _expand(token):
    """`a.{h,cpp}` and `a.h/.cpp` are two names each."""
    if '/.' in token:
        first, *more = token.split('/.')
        return [first] + [first.rsplit('.', 1)[0] + '.' + suffix for suffix in more]
    match = re.match(r'(.*)\{([^}]*)\}(.*)', token)
    return [match[1] + part + match[3] for part in match[2].split(',')] if match else [token]


def check_readmes(tree):
    """File names in the README of a room are files of this room, or paths from the top."""
    for path in tree.files:
        if not re.fullmatch(r'src/\w+(/\w+)?/README\.md', path):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            tokens = re.findall(r'`([\w./{},*-]+\.(?:h|cpp|py|cmake)|[\w./-]+\.\{[\w,]+\})`', line)
            for name in (n for token in tokens for n in _expand(token)):
                places = [f'{os.path.dirname(path)}/{name}', f'src/{name}', name]
                if not any(fnmatch.filter(tree.files, place) for place in places):
                    tree.find('readme', path, number, f'`{name}` does not exist (update the table)')


def check_form(tree):
    for path in tree.files:
        size = (tree.root / path).stat().st_size
        if size > FILE_BYTES_MAX:
            tree.find('bytes', path, 1, f'{size} bytes, at most {FILE_BYTES_MAX} (make or fetch it '
                      'in the build)')
    for path in tree.of_kind(TEXT):
        text = tree.text(path)
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip():
                tree.find('space', path, number, 'trailing white space')
        if text and not text.endswith('\n'):
            tree.find('space', path, text.count('\n') + 1, 'no newline at the end')
        elif text.endswith('\n\n'):
            tree.find('space', path, text.count('\n'), 'empty line at the end')


def clang_format():
    """The pinned formatter, or None: another version formats otherwise."""
    for name in (f'clang-format-{CLANG_FORMAT_VERSION}', 'clang-format'):
        program = shutil.which(name)
        if program:
            shown = subprocess.run([program, '--version'], capture_output=True, text=True).stdout
            if f'version {CLANG_FORMAT_VERSION}.' in shown:
                return program
    return None


def check_format(tree, fix):
    program = clang_format()
    if program is None:
        tree.find('format', '.clang-format', 1, f'clang-format {CLANG_FORMAT_VERSION} not found '
                  f'(install clang-format-{CLANG_FORMAT_VERSION})')
        return
    files = tree.cpp()
    for start in range(0, len(files), 50):
        batch = files[start:start + 50]
        command = [program] + (['-i'] if fix else ['--dry-run', '-Werror']) + batch
        result = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
        seen = set()
        for match in re.finditer(r'^([^\s:]+):(\d+):\d+: error', result.stderr, re.M):
            if match[1] not in seen:
                seen.add(match[1])
                tree.find('format', match[1], int(match[2]),
                          'not as clang-format writes it (use tools/tidy.py --fix-format)')


def size_summary(tree):
    counts = sorted(len(tree.text(p).splitlines()) for p in tree.cpp() if room_of(p))
    if not counts:
        return 'tidy: no C++ files'
    p90 = counts[min(len(counts) - 1, int(len(counts) * 0.9))]
    return (f'tidy: {len(counts)} C++ files, {sum(counts)} lines; per file: median '
            f'{statistics.median(counts):g}, p90 {p90}, largest {counts[-1]}')


def run(root, formatting='check', exceptions=None):
    """All findings as sorted (path, line, rule, message)."""
    tree = Tree(root, exceptions)
    for check in (check_borders, check_sizes, check_banned, check_console, check_leftovers, check_targets,
                  check_readmes, check_form):
        check(tree)
    if formatting != 'skip':
        check_format(tree, formatting == 'fix')
    return tree, sorted(tree.findings)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--root', default=pathlib.Path(__file__).resolve().parent.parent)
    group = parser.add_mutually_exclusive_group()
    group.add_argument('--fix-format', action='store_true')
    group.add_argument('--no-format', action='store_true')
    args = parser.parse_args()
    mode = 'fix' if args.fix_format else 'skip' if args.no_format else 'check'
    tree, findings = run(args.root, mode)
    for path, line, rule, message in findings:
        print(f'{path}:{line}: {rule}: {message}')
    print(size_summary(tree) + f'; {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
