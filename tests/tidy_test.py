#!/usr/bin/env python3
"""tools/tidy.py against planted violations: each rule must find its own and spare its neighbour."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / 'tools'
sys.path.insert(0, str(TOOLS))
import cpp_text  # noqa: E402
import tidy  # noqa: E402

CMAKE = 'saccade_room(x SOURCES a.cpp b.cpp TESTS a_test.cpp)\n'


class Planted(unittest.TestCase):
    """Writes files into an empty tree and asks tidy about them."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self, path, text, formatting='skip', exceptions=None):
        """(line, rule) of the findings in one C++ file that is in a target."""
        self.plant(path, text)
        room = path.rsplit('/', 1)[0]
        self.plant(f'{room}/CMakeLists.txt', CMAKE)
        _, findings = tidy.run(self.root, formatting, exceptions)
        return [(line, rule) for where, line, rule, _ in findings if where == path]

    def test_clean_tree_has_no_findings(self):
        self.plant('src/align/CMakeLists.txt', CMAKE)
        for name in ('a', 'b', 'a_test'):
            self.plant(f'src/align/{name}.cpp', '#include "core/x.h"\nint f() { return 1; }\n')
        self.assertEqual(tidy.run(self.root, 'skip')[1], [])

    def test_borders_between_rooms(self):
        for room, header, good in [
                ('core', 'telemetry/ledger.h', False), ('telemetry', 'core/clock.h', True),
                ('align', 'ingest/ingest_types.h', True), ('align', 'ingest/ingest.h', False),
                ('align', 'engine/load.h', False), ('perceive', 'engine/load.h', True),
                ('perceive', 'ingest/ingest_types.h', True), ('perceive', 'attend/x.h', False),
                ('decode', 'attend/attend_types.h', True), ('decode', 'attend/attend.h', False),
                ('emit', 'decode/decode_types.h', True), ('emit', 'transport/json.h', False),
                ('session', 'perceive/see/see.h', True), ('session', 'transport/json.h', False),
                ('transport', 'emit/emit_types.h', True), ('transport', 'emit/emitter.h', False),
                ('transport', 'ingest/ingest.h', False), ('governor', 'align/align.h', False)]:
            with self.subTest(room=room, header=header):
                found = self.found(f'src/{room}/a.cpp', f'#include <vector>\n#include "{header}"\n')
                self.assertEqual(found, [] if good else [(2, 'borders')])

    def test_the_console_makes_no_markup_of_strings(self):
        for line, good in [('x.innerHTML = y', False), ('x.textContent = y', True), ('eval(y)', False),
                           ('evaluate(y)', True), ("setTimeout('y', 1)", False), ('setTimeout(y, 1)', True),
                           ('new EventSource(y)', False), ("fetch('https://cdn.example/x')", False),
                           ("fetch('/v1/streams')", True), ('background: url(//cdn.example/x)', False)]:
            with self.subTest(line=line):
                self.assertEqual(self.found('console/src/a.ts', line + '\n'), [] if good else [(1, 'console')])

    def test_borders_of_apps_and_its_one_exception(self):
        text = '#include "session/x.h"\n#include "engine/load.h"\n#include "ingest/ingest.h"\n'
        self.assertEqual(self.found('apps/saccade/a.cpp', text), [])
        self.assertEqual(self.found('apps/saccade/a.cpp', text, exceptions=[]), [(3, 'borders')])
        self.assertEqual(self.found('apps/saccade/a.cpp', '#include "engine/kv/pages.h"\n'),
                         [(1, 'borders')])

    def test_unknown_room(self):
        self.assertEqual(self.found('src/magic/a.cpp', 'int x;\n'), [(1, 'borders')])

    def test_outside_headers_have_one_home(self):
        for header, home in [('<libavformat/avformat.h>', 'ingest'), ('<ggml.h>', 'engine'),
                             ('"llama.h"', 'engine'), ('"mtmd-helper.h"', 'engine'),
                             ('<whisper.h>', 'engine'), ('<openvino/openvino.hpp>', 'perceive'),
                             ('<opencv2/core.hpp>', 'perceive'),
                             ('<nlohmann/json.hpp>', 'transport'), ('<curl/curl.h>', 'transport')]:
            with self.subTest(header=header):
                text = f'#include {header}\n'
                self.assertEqual(self.found(f'src/{home}/a.cpp', text), [])
                self.assertEqual(self.found('src/session/a.cpp', text), [(1, 'borders')])

    def test_include_in_a_comment_is_none(self):
        self.assertEqual(self.found('src/core/a.cpp', '/*\n#include "session/x.h"\n*/\n'), [])

    def test_file_length(self):
        self.assertEqual(self.found('src/core/a.cpp', 'int x;\n' * 800), [])
        self.assertEqual(self.found('src/core/a.cpp', 'int x;\n' * 801), [(1, 'lines')])

    def test_columns(self):
        self.assertEqual(self.found('src/core/a.cpp', 'int ' + 'x' * 95 + ';\n'), [])
        self.assertEqual(self.found('src/core/a.cpp', 'int ' + 'x' * 96 + ';\n'), [(1, 'columns')])

    def test_function_length(self):
        def body(lines):
            return ('namespace n {\nclass C {\n  int f(int a) const {\n' + '    if (a) { ++a; }\n' *
                    (lines - 2) + '  }\n};\n}\n')
        self.assertEqual(self.found('src/core/a.cpp', body(70)), [])
        self.assertEqual(self.found('src/core/a.cpp', body(71)), [(3, 'function')])

    def test_banned_calls(self):
        for line, good in [
                ('auto t = std::chrono::steady_clock::now();', False),
                ('x = time(nullptr);', False),
                ('auto t = clock.now();', True), ('auto t = wall_time(0);', True),
                ('std::this_thread::sleep_for(d);', False), ('int r = rand();', False),
                ('std::random_device d;', False), ('getenv("HOME");', False),
                ('std::printf("x");', False), ('std::snprintf(b, 4, "x");', True),
                ('std::cout << 1;', False), ('auto* p = new Thing;', False),
                ('delete p;', False), ('delete[] p;', False), ('T(const T&) = delete;', True),
                ('auto p = std::unique_ptr<T>(new T(1));', True),
                ('std::unique_ptr<T> p(new T(1));', True), ('exit(1);', False), ('abort();', False),
                ('on_exit(1);', True), ('loop.exit(1);', True), ('strcpy(a, b);', False),
                ('sprintf(a, b);', False), ('int n = atoi(s);', False),
                ('listen(socket_fd, 8);', False), ('// calls exit(1) and std::cout', True),
                ('const char* s = "std::cout << new T; exit(1)";', True),
                ('const char* s = R"(getenv("x"))";', True), ("char c = '\"'; exit(1);", False),
                ("int n = 1'000; int m = 2'000;", True)]:
            with self.subTest(line=line):
                found = self.found('src/align/a.cpp', f'\n{line}\n')
                self.assertEqual(found, [] if good else [(2, 'banned')])

    def test_banned_calls_have_a_home(self):
        self.assertEqual(self.found('apps/saccade/a.cpp', 'int a = puts(getenv("X"));\n'), [])
        self.assertEqual(self.found('src/transport/a.cpp', 'int a = listen(socket_fd, 8);\n'), [])
        self.plant('src/core/CMakeLists.txt', 'saccade_room(core SOURCES system_clock.cpp)\n')
        self.plant('src/core/system_clock.cpp', 'auto t = std::chrono::system_clock::now();\n')
        self.assertEqual([f for f in tidy.run(self.root, 'skip')[1] if 'system_clock' in f[0]], [])

    def test_leftovers(self):
        for line, good in [
                ('// ' + 'TO' 'DO: later', False), ('// FIX' 'ME', False),
                ('// x = compute(y);', False), ('// if (x > 3) {', False), ('#if 0', False),
                ('// return value;', False), ('// #include <map>', False), ('// }', False),
                ('// Waits for room; then adds the item.', True), ('// f(x) is linear in x.', True),
                ('// the result of f(x); never negative', True), ('int x;  // seconds', True),
                ('// NOLINT(google-explicit-constructor)', True)]:
            with self.subTest(line=line):
                found = self.found('src/core/a.cpp', f'{line}\n')
                self.assertEqual(found, [] if good else [(1, 'leftover')])

    def test_dead_file(self):
        self.plant('src/core/CMakeLists.txt', 'saccade_room(core SOURCES a.cpp)\n# dead.cpp\n')
        self.plant('src/core/a.cpp', 'int a;\n')
        self.plant('src/core/dead.cpp', 'int b;\n')
        self.plant('src/perceive/see/files.cmake', 'set(SEE_SOURCES see/look.cpp)\n')
        self.plant('src/perceive/see/look.cpp', 'int c;\n')
        self.plant('tests/fuzz/parse.cpp', 'int d;\n')
        found = {(path, rule) for path, _, rule, _ in tidy.run(self.root, 'skip')[1]}
        self.assertEqual(found, {('src/core/dead.cpp', 'targets'),
                                 ('tests/fuzz/parse.cpp', 'targets')})

    def test_readme_names_files_that_exist(self):
        self.plant('src/align/align.h', 'int a;\n')
        self.plant('src/align/README.md',
                   '| `align.h` | it |\n| `gone.cpp` | not |\n`align.{h,cpp}`\n'
                   '`align.h/.cpp`\n')
        _, findings = tidy.run(self.root, 'skip')
        self.assertEqual([(line, rule) for _, line, rule, _ in findings],
                         [(2, 'readme'), (3, 'readme'), (4, 'readme')])

    def test_form(self):
        self.assertEqual(self.found('src/core/a.cpp', 'int x; \n'), [(1, 'space')])
        self.assertEqual(self.found('src/core/a.cpp', 'int x;'), [(1, 'space')])
        self.assertEqual(self.found('src/core/a.cpp', 'int x;\n\n'), [(2, 'space')])

    def test_large_files_only_where_named(self):
        self.plant('models/mini/a.gguf', 'x' * 1_000_001)
        self.plant('models/other/a.gguf', 'x' * 1_000_001)
        self.assertEqual([(path, rule) for path, _, rule, _ in tidy.run(self.root, 'skip')[1]],
                         [('models/other/a.gguf', 'bytes')])

    def test_build_outputs_are_not_ours(self):
        self.plant('build/x/a.cpp', 'exit(1); \n')
        self.assertEqual(tidy.run(self.root, 'skip')[1], [])

    @unittest.skipUnless(tidy.clang_format(), 'clang-format 14 is not installed')
    def test_format_is_checked_and_fixed(self):
        self.plant('.clang-format', 'BasedOnStyle: Google\n')
        self.assertEqual(self.found('src/core/a.cpp', 'int  x;\n', 'check'), [(1, 'format')])
        tidy.run(self.root, 'fix')
        self.assertEqual((self.root / 'src/core/a.cpp').read_text(), 'int x;\n')

    def test_command_line(self):
        self.plant('src/core/a.cpp', 'int a;\n')
        command = [sys.executable, str(TOOLS / 'tidy.py'), '--no-format', '--root', str(self.root)]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn('src/core/a.cpp:1: targets: in no CMake target', result.stdout)
        self.plant('src/core/CMakeLists.txt', 'saccade_room(core SOURCES a.cpp)\n')
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)


class Functions(unittest.TestCase):
    def names(self, text):
        return [(name, last - first + 1) for first, last, name in cpp_text.functions(text)]

    def test_finds_functions_of_every_shape(self):
        text = '''
template <typename T>
class Box : public Base<T> {
 public:
  Box(int a, int b) : a_(a), b_(b) {
    go();
  }
  ~Box() override { stop(); }
  const T& get() const& noexcept {
    for (int i = 0; i < 3; ++i) {
      if (i) continue;
    }
    return t_;
  }
};
enum class Kind { kA, kB };
struct Point { int x = 0, y = 0; };
constexpr int kTable[] = {1, 2, 3};
auto make(int n) -> std::vector<int> {
  return {n, n};
}
'''
        self.assertEqual(self.names(text), [('Box', 3), ('~Box', 1), ('get', 6), ('make', 3)])

    def test_signature_over_several_lines_counts(self):
        self.assertEqual(self.names('int f(int a,\n      int b) {\n  return a;\n}\n'), [('f', 4)])

    def test_braces_in_text_are_none(self):
        text = 'int f() {\n  s = "}{";  // }\n  c = \'}\';\n  return 0;\n}\nint g() { return 1; }\n'
        self.assertEqual(self.names(text), [('f', 5), ('g', 1)])


if __name__ == '__main__':
    unittest.main()
