"""C and C++ headers as reference pages.

The headers keep one form: LLVM's file comment, and `///` before each public
declaration. A page has one section a declaration (or group without a blank
line), with its comment as text and the rest, comments of members included, as code.
"""

import re

NAME = [
    re.compile(r"\btypedef\s+struct\s+\w+\s*\*\s*(\w+);"),
    re.compile(r"\b(?:class|struct|enum class|enum|union)\s+(?:\w+\([^)]*\)\s+)?(\w+)[^;()]*[{;]"),
    re.compile(r"\busing\s+(\w+)\s*="),
    re.compile(r"#define\s+(\w+)"),
    re.compile(r"([\w:~]+|operator\S+)\s*\("),
    re.compile(r"(\w+)\s*(?:=|;|\[|\{)"),
]


def file_comment(lines):
    """The text of the header's opening comment, without name and license."""
    text = []
    for line in lines:
        if not line.startswith("//"):
            break
        line = re.sub(r"^///? ?", "", line)
        if line.startswith("===-") or line.startswith(r"\file") or line == "-*-===//":
            continue
        text.append(line)
    body = "\n".join(text)
    body = re.sub(r"\A\s*Part of the AttnMLIR project.*?LLVM-exception\n?", "", body, flags=re.S)
    paragraphs = body.strip("\n").split("\n\n")
    return "\n\n".join(
        f"```text\n{p}\n```" if re.match(r"[{<\s]", p) else prose([p]) for p in paragraphs
    )


def strip_private(code):
    """Public parts of a class, and no bodies of functions."""
    kept = []
    lines = code.split("\n")
    is_class = re.match(r"(?:template .*\n)?class\b", code)
    private = bool(is_class)
    skip_to = None  # indentation of the function whose body is left out
    for i, line in enumerate(lines):
        if skip_to is not None:
            if re.match(rf"{skip_to}\}}", line):
                skip_to = None
            continue
        access = re.match(r"\s*(public|private|protected):", line)
        if access and len(line) - len(line.lstrip()) == 0:
            private = access[1] != "public"
            if private:
                continue
        if private and 0 < i and not line.startswith("}") and line.startswith(" "):
            # The head of the class may span lines: keep what precedes `{`.
            if "{" in "\n".join(lines[:i]):
                continue
        body = re.match(r"(\s+)(?!(?:class|struct|enum|union)\b)(.*\)[^;]*)\{\s*$", line)
        if body and i + 1 < len(lines):
            kept.append(body[1] + body[2].rstrip() + ";")
            skip_to = body[1]
            continue
        line = re.sub(r"(\)(?: const)?(?: override)?) \{.*\}$", r"\1;", line)
        kept.append(re.sub(r"^(\s+(?:explicit )?\w+\(.*?\)) : \w+\(.*;$", r"\1;", line))
    return re.sub(r"\n\s*\n(?=\};)", "\n", "\n".join(kept))


def chunks(lines):
    """Groups of lines at namespace level, between blank lines."""
    group, depth = [], 0
    for line in lines:
        if not line.strip() and depth == 0:
            if group:
                yield group
            group = []
            continue
        group.append(line)
        code = re.sub(r"//.*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", line)
        depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
    if group:
        yield group


def entity(code):
    """What a declaration declares."""
    plain = re.sub(r"//.*|\[\[.*?\]\]|__attribute__\(\(.*?\)\)", "", code)
    plain = re.sub(r"^template\s*<.*?>\s*(?=\w)", "", plain, flags=re.S)
    for pattern in NAME:
        found = pattern.search(plain)
        if found:
            return found[1].split("::")[-1]
    return None


def prose(lines):
    """Comment lines as Markdown."""
    text = "\n".join(re.sub(r"^\s*///<? ?", "", line) for line in lines)
    text = re.sub(r"\\p (\w+)", r"`\1`", text)
    text = re.sub(r"\\(?:brief|file) ?", "", text)
    # Outside of code these would be taken for HTML and emphasis.
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else p.replace("<", "&lt;").replace("*", "\\*") for p in parts
    )


def line_comments(text):
    """Text with C's block comments at the start of lines as `//` or `///` ones."""

    def convert(match):
        indent, mark, body = match.groups()
        if "===-" in body:  # a file's first lines, or a divider
            return ""
        lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in body.strip().split("\n")]
        return "\n".join(f"{indent}{'///' if mark else '//'} {line}".rstrip() for line in lines)

    return re.sub(r"^([ \t]*)/\*(\*?)(.*?)\*/[ \t]*(?=\n)", convert, text, flags=re.S | re.M)


def page(path, include):
    """Markdown for the header `path`, which is included as `include`."""
    text = path.read_text()
    if include.startswith("attn-c"):
        text = line_comments(text).lstrip("\n")
        export = "ATTN_C_API "
        text = re.sub(rf"^ {{{len(export)},}}", lambda m: m[0][len(export) :], text, flags=re.M)
        text = text.replace(export, "")
        text = re.sub(r"^ATTN_C_(BEGIN|END)$", "", text, flags=re.M)
    lines = text.split("\n")
    start = 0
    while start < len(lines) and lines[start].startswith("//"):
        start += 1
    language = "c" if include.startswith("attn-c") else "c++"
    out = [f"# {include}", "", f"```{language}", f'#include "{include}"', "```", ""]
    out += [file_comment(lines), ""]
    body, skipping = [], 0
    for line in lines[start:]:
        # Macros around declarations, namespaces and forward declarations of others.
        if re.match(r"#(?!define ATTN_\w+(\(| \d))|^\} // namespace|extern \"C\"|^namespace [\w:]+ \{$", line):
            body.append("")
            continue
        body.append(line)
    count = 0
    for group in chunks(body):
        first = next((i for i, l in enumerate(group) if not l.lstrip().startswith("///")), len(group))
        comment, code = group[:first], "\n".join(group[first:])
        # Forward declarations, dividers, includes of generated parts.
        if re.fullmatch(r"(\s*((class|struct) \w+;|//.*|using namespace.*)?\n?)*", code):
            continue
        name = entity(code)
        if not name:
            continue
        count += 1
        out += [f"## {name}", "", prose(comment), "", f"```{language}", strip_private(code), "```", ""]
    return "\n".join(out), count
