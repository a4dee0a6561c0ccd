# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a source file can be mutated, and how. C is read with clang, JavaScript and shell scripts by their tokens."""

import bisect
import dataclasses
import re


# No source has this byte: what is around it is not changed, whatever it is.
ON = "\0"


@dataclasses.dataclass
class Mutation:
    """Bytes begin to end of the file become wrong, in one line. in_c is what stands there in a program that has many mutations; ON in it
    is the condition that this one is on."""

    path: str
    line: int
    begin: int
    end: int
    kind: str
    before: str = ""
    after: str = ""
    wrong: str = ""
    in_c: str = ""
    number: int = 0

    def key(self):
        return self.path, self.before, self.after


COMPARISONS = {"==": "!=", "!=": "==", "<": ">", "<=": ">", ">": "<", ">=": "<", "===": "!==", "!==": "===",
               "-eq": "-ne", "-ne": "-eq", "-gt": "-lt", "-lt": "-gt", "-n": "-z", "-z": "-n"}
BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "-gt": "-ge", "-ge": "-gt", "-lt": "-le", "-le": "-lt"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
LOGIC = {"&&": "||", "||": "&&"}
OPERATORS = {"comparison": COMPARISONS, "boundary": BOUNDARIES, "arithmetic": ARITHMETIC, "logic": LOGIC}

# A dropped call of these is no bug that a test could see: a line of the log, and memory or a descriptor that stays.
UNSEEN = re.compile(r"(log_\w+|g?_?free\w*|\w*_free|\w*_unref\w*|close|safe_close|va_end|assert\w*|console\.\w+)\s*\(")


# Calls that say the same of A, B and of B, A; those of the second kind only if nobody asks which of the two is greater.
SYMMETRIC = re.compile(r"\(*(streq|\w+_equals?|MIN|MAX|calloc|mask_(and|or|xor))\s*\(")
COMPARING = re.compile(r"(g_strcmp0|str\w*cmp|memcmp)\s*\(")
# What is not 0, or is seldom: the length of a text that has more than conversions, and a descriptor where standard input is open
PRINTING = re.compile(r'v?asprintf\s*\([^"]*"((?:\\.|[^"\\])*)"')
DESCRIPTOR = re.compile(r"(.*[^a-z])?fd")


def is_symmetric(before, call, after):
    """Whether a call that stands between BEFORE and AFTER does the same with its first two arguments swapped"""
    if SYMMETRIC.match(call):
        return True
    return bool(COMPARING.match(call)) and bool(re.match(r"\s*[!=]= 0\b", after) or before.endswith("!"))


def is_never_equal(left, right):
    """Whether LEFT < RIGHT and LEFT <= RIGHT are the same"""
    if right.strip() != "0":
        return False
    printing = PRINTING.match(left.strip())
    return bool(DESCRIPTOR.fullmatch(left.strip())) or bool(printing and re.sub(r"%[^a-zA-Z%]*[hlzj]*[a-zA-Z]", "", printing[1]))


def number_changed(text):
    """The text of a number, one more or, of a bit or a size in hexadecimal, twice; None if it is no plain number."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", text)
    if not match:
        return None
    value = int(match[1], 16 if match[1][1:2] in "xX" and len(match[1]) > 1 else 10)
    return f"{value * 2 if match[1][1:2] in ('x', 'X') and value else value + 1}{match[2]}"


def complete(source, mutation, starts):
    """Fills in what the line is before and after."""
    begin = starts[mutation.line - 1]
    end = source.find("\n", begin)
    line = source[begin : end if end >= 0 else len(source)]
    at = mutation.begin - begin
    mutation.before = line.strip()
    mutation.after = (line[:at] + mutation.wrong + line[at + mutation.end - mutation.begin :]).strip()
    return mutation


def starts_of_lines(source):
    return [0] + [m.end() for m in re.finditer("\n", source)]


class Source:
    """A C file: where clang sees what."""

    def __init__(self, cindex, path, name, arguments):
        self.cindex = cindex
        self.path = path
        # Offsets of clang are in bytes; latin-1 has one character for each byte.
        with open(name, encoding="latin-1", newline="") as f:
            self.text = f.read()
        self.name = name
        self.starts = starts_of_lines(self.text)
        self.unit = cindex.Index.create().parse(
            name, arguments, options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        self.macros = sorted((c.extent.start.offset, c.extent.end.offset) for c in self.unit.cursor.get_children()
                             if c.kind == cindex.CursorKind.MACRO_INSTANTIATION and self.is_here(c))
        self.found = []

    def is_here(self, cursor):
        return cursor.location.file is not None and cursor.location.file.name == self.name

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def is_plain(self, begin, end, whole_macro=False):
        """In one line, and not a part of what a macro has made. A macro as a whole may be in it."""
        if begin >= end or "\n" in self.text[begin:end]:
            return False
        for a, b in self.macros:
            if a >= end or b <= begin:
                continue
            if not (begin <= a and b <= end) or (not whole_macro and (a, b) == (begin, end)):
                return False
        return True

    def add(self, kind, begin, end, wrong, in_c):
        line = bisect.bisect_right(self.starts, begin)
        self.found.append(complete(self.text, Mutation(self.path, line, begin, end, kind, wrong=wrong, in_c=in_c), self.starts))

    def add_either(self, kind, begin, end, wrong):
        self.add(kind, begin, end, wrong, f"({ON} ? ({wrong}) : ({self.text[begin:end]}))")

    def binary(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        begin, end = self.span(cursor)
        left, right = self.span(children[0])[1], self.span(children[1])[0]
        if not self.is_plain(begin, end) or not begin < left < right < end:
            return
        gap = self.text[left:right]
        operator = gap.strip()
        for kind, table in OPERATORS.items():
            # The sum of two pointers does not exist, nor does that of structures; what does not compile is left out later.
            if operator in table and not (kind == "boundary" and is_never_equal(self.text[begin:left], self.text[right:end])):
                self.add_either(kind, begin, end, self.text[begin:left] + gap.replace(operator, table[operator]) + self.text[right:end])

    def condition(self, cursor, child, body):
        begin, end = self.span(child)
        if not self.is_plain(begin, end, True):
            return
        text = self.text[begin:end]
        leaves = body is not None and re.match(r"\s*(return\b|goto\b)", self.text[body.extent.start.offset :].lstrip("{"))
        if cursor.kind == self.cindex.CursorKind.IF_STMT and leaves and re.search(r"<\s*0\b|^!|\berror\b|\berrno\b", text):
            self.add("dropped error check", begin, end, "false", f"!{ON} && ({text})")
        self.add("negated condition", begin, end, f"!({text})", f"{ON} ? !({text}) : !!({text})")

    def statement(self, cursor):
        begin, end = self.span(cursor)
        if not self.is_plain(begin, end, True) or UNSEEN.match(self.text[begin:end]) or self.text[end : end + 1] != ";":
            return
        self.add("dropped statement", begin, end + 1, ";", f"{{ if (!{ON}) {self.text[begin:end]}; }}")

    def call(self, cursor):
        begin, end = self.span(cursor)
        arguments = list(cursor.get_arguments())
        if not self.is_plain(begin, end):
            return
        if is_symmetric(self.text[:begin], self.text[begin:end], self.text[end : end + 8]):
            arguments = arguments[1:]
        for a, b in zip(arguments, arguments[1:]):
            (p, q), (r, s) = self.span(a), self.span(b)
            one, two = self.text[p:q], self.text[r:s]
            if not begin < p < q <= r < s < end or one == two:
                continue
            if not self.is_plain(p, q, True) or not self.is_plain(r, s, True):
                continue
            if a.type.get_canonical().spelling.replace("const ", "") == b.type.get_canonical().spelling.replace("const ", ""):
                self.add_either("swapped argument", begin, end, self.text[begin:p] + two + self.text[q:r] + one + self.text[s:end])

    def visit(self, cursor, parent):
        kinds = self.cindex.CursorKind
        kind = cursor.kind
        children = list(cursor.get_children())
        if kind == kinds.BINARY_OPERATOR:
            self.binary(cursor)
        elif kind == kinds.INTEGER_LITERAL:
            begin, end = self.span(cursor)
            changed = number_changed(self.text[begin:end])
            # a < 4 becomes a <= 4 already
            is_boundary = re.search(r"[^<]< $|>= $", self.text[max(0, begin - 4) : begin]) and not self.text[begin:end].startswith("0x")
            if changed and not is_boundary and self.is_plain(begin, end):
                self.add_either("constant", begin, end, changed)
        # The condition of a macro, such as tolower(), is the whole macro.
        elif kind in (kinds.IF_STMT, kinds.WHILE_STMT) and children and re.match(r"(if|while)\b", self.text[self.span(cursor)[0] :]):
            self.condition(cursor, children[0], children[1] if len(children) == 2 else None)
        if kind == kinds.CALL_EXPR:
            self.call(cursor)
        # As a statement: what is in a block, and what is not the condition of if, for or while
        is_body = parent.kind == kinds.COMPOUND_STMT or (
            parent.kind in (kinds.IF_STMT, kinds.FOR_STMT, kinds.WHILE_STMT) and self.text[self.span(cursor)[1] : self.span(cursor)[1] + 1] == ";"
            and list(parent.get_children())[-1] == cursor)
        if is_body and kind in (kinds.CALL_EXPR, kinds.BINARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR, kinds.UNARY_OPERATOR,
                                kinds.CONTINUE_STMT, kinds.BREAK_STMT):
            self.statement(cursor)
        for i, child in enumerate(children):
            # A label of switch is a constant of the compiler, and so are the initial values of what is static. The size of an array is
            # seldom noticed, and seldom matters.
            if kind == kinds.VAR_DECL and child.kind != kinds.INIT_LIST_EXPR and cursor.type.kind == self.cindex.TypeKind.CONSTANTARRAY:
                continue
            if kind == kinds.CASE_STMT and i == 0:
                continue
            if child.kind == kinds.VAR_DECL and child.storage_class == self.cindex.StorageClass.STATIC:
                continue
            self.visit(child, cursor)

    def mutations(self):
        kinds = self.cindex.CursorKind
        for cursor in self.unit.cursor.get_children():
            if cursor.kind == kinds.FUNCTION_DECL and cursor.is_definition() and self.is_here(cursor):
                for child in cursor.get_children():
                    if child.kind == kinds.COMPOUND_STMT:
                        self.visit(child, cursor)
        return self.found


def mutations_of_c(cindex, path, name, arguments):
    return Source(cindex, path, name, arguments).mutations()


def masked(text, is_shell):
    """The same text with spaces for comments and what is quoted."""
    out = list(text)
    pattern = (r"(?:(?<=\s)|^)\#[^\n]*|'[^']*'|\"(?:\\.|[^\"\\])*\"" if is_shell
               else r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`")
    for match in re.finditer(pattern, text, re.S | re.M):
        for i in range(*match.span()):
            if out[i] != "\n":
                out[i] = "\x01"
    return "".join(out)


def mutations_of_script(path, name):
    """Of JavaScript or of a shell script"""
    with open(name, encoding="latin-1", newline="") as f:
        text = f.read()
    is_shell = not path.endswith(".js")
    mask = masked(text, is_shell)
    starts = starts_of_lines(text)
    found = []

    def add(kind, begin, end, wrong):
        line = bisect.bisect_right(starts, begin)
        found.append(complete(text, Mutation(path, line, begin, end, kind, wrong=wrong), starts))

    operator = r"(?<=\s)(===|!==|==|!=|<=|>=|<|>|&&|\|\||[-+*/]|-(?:eq|ne|gt|lt|ge|le|n|z))(?=\s)"
    for match in re.finditer(operator, mask):
        for kind, table in OPERATORS.items():
            # In a shell < and > are redirections, + and - options and && joins commands as well as conditions.
            if match[1] in ("-n", "-z") and not mask[: match.start()].endswith(("[ ", "[ ! ")):
                continue
            if match[1] in table and not (is_shell and (kind == "arithmetic" or match[1] in "<>")):
                add(kind, *match.span(1), table[match[1]])
    for match in re.finditer(r"(?<![\w.$\x01])\d+(?![\w.\x01])", mask):
        add("constant", *match.span(), str(int(match[0]) + 1))
    for match in re.finditer(r"\((!?)([\w.]+(?:\([\w., ]*\))?)\)(?= (?:return|continue|\{|\n))", mask):
        if re.search(r"\b(if|while) $", mask[max(0, match.start() - 6) : match.start()]):
            add("negated condition", match.start() + 1, match.end() - 1, ("" if match[1] else "!") + match[2])
    for match in re.finditer(r"(?<=[\w(] )?\b(\w+), (\w+)\)", mask):
        if not is_shell and match[1] != match[2]:
            add("swapped argument", *match.span(), f"{match[2]}, {match[1]})")
    if is_shell:
        for match in re.finditer(r"\b(if|while) (?=\[\[|[a-z])", mask):
            add("negated condition", *match.span(), f"{match[1]} ! ")
        for match in re.finditer(r" \|\| (return|exit|die|continue)\b[^\n;}]*", mask):
            add("dropped error check", *match.span(), "")
        statement = r"^[ \t]+(?!(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|local|return|exit)\b)[a-z_]\w*[ =][^\n]*[^\\|{\n;(]$"
    else:
        statement = r"^[ \t]+(?!(?:return|const|let|import|export)\b)[a-z][\w.]*(?:\([^\n]*\)|(?:\[\w+\])? [+-]?= [^\n]*);$"
    for match in re.finditer(statement, mask, re.M):
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        if not UNSEEN.match(text[begin:]) and not text[: match.start()].rstrip("\n").endswith(("\\", "|", "(", ",")):
            add("dropped statement", begin, match.end(), ":" if is_shell else ";")
    return found
