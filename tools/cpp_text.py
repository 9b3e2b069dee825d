"""Reads C++ just well enough for house rules: text without comments and strings, and functions.

This is no parser. It knows comments, string and character literals, raw strings and braces, which
is what counting lines and finding words needs; macros that unbalance braces would confuse it.
"""
import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'', re.S)
_COMMENT_OR_STRING = re.compile(_TOKEN.pattern.replace('//', r'(?P<line>//', 1).replace(
    r'[^\n]*|', r'[^\n]*)|', 1), re.S)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
_FUNCTION_END = re.compile(
    r'\)\s*(?:const\b|noexcept\b(?:\s*\([^()]*\))?|override\b|final\b|mutable\b|volatile\b|&&?'
    r'|->[^{};=]+|:[^;]*|requires\b[^;]*|try\b|\s)*$', re.S)
_NOT_FUNCTION = re.compile(r'^(?:namespace|class|struct|union|enum|extern|if|for|while|switch|catch'
                           r'|else|do)\b')
_PREFIX = re.compile(r'^(?:\s|template\s*<[^{}]*?>(?=\s*\w)|\[\[[^\]]*\]\]|#[^\n]*\n'
                     r'|(?:public|private|protected)\s*:)+')


def _blank(match):
    """Spaces in place of the text, so that lines and columns stay."""
    return re.sub(r'[^\n]', ' ', match.group(0))


def code_only(text):
    """The text with comments and literals blanked; same length, same lines."""
    return _TOKEN.sub(_blank, text)


def comments(text):
    """(line, text) of each `//` comment, without the slashes."""
    for match in _COMMENT_OR_STRING.finditer(text):
        if match.group('line'):
            yield line_of(text, match.start()), match.group('line')[2:]


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


def includes(text):
    """(line, quoted, path) of each include directive."""
    bare = re.sub(r'//[^\n]*|/\*.*?\*/', _blank, text, flags=re.S)
    for match in _INCLUDE.finditer(bare):
        yield line_of(text, match.start()), match.group(1) == '"', match.group(2)


def functions(text):
    """(first line, last line, name) of each function body outside other functions."""
    code = re.sub(r'^[ \t]*#(?:\\\n|[^\n])*', _blank, code_only(text), flags=re.M)
    stack, head_start, inside = [], 0, 0
    for offset in (m.start() for m in re.finditer(r'[{};]', code)):
        mark = code[offset]
        if mark == '{':
            head = _PREFIX.sub('', code[head_start:offset])
            is_function = (not inside and not _NOT_FUNCTION.match(head) and
                           _FUNCTION_END.search(head) is not None)
            begin = offset - len(head.rstrip()) if is_function else offset
            stack.append((is_function, line_of(code, max(head_start, begin)), head))
            inside += is_function
        elif mark == '}' and stack:
            was_function, first, head = stack.pop()
            if was_function:
                inside -= 1
                yield first, line_of(code, offset), _name(head)
        if mark != ';' or not _inside_parentheses(code, head_start, offset):
            head_start = offset + 1


def _inside_parentheses(code, start, end):
    """A `;` of a for header does not end a head."""
    part = code[start:end]
    return part.count('(') > part.count(')')


def _name(head):
    names = re.findall(r'([~\w:]+)\s*\(', head)
    return names[0] if names else 'function'
