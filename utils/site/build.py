"""Builds the documentation site (utils/docs).

Stages Markdown pages into one folder: docs/, README.md and its neighbours, a page
for every public C and C++ header, the Python package, and every file of the
checkout that a page links to. Sphinx makes HTML of them; a link to nothing, like any
other warning, is an error.
"""

import argparse
import pathlib
import posixpath
import re
import shutil
import sys

import cpp_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))
from version import version  # noqa: E402

# Sections in order. A page of docs/ that is not named here goes to "More".
SECTIONS = {
    "Start": ["Tutorial", "Running", "Report"],
    "How to": ["Embedding", "CAPI", "Python", "HIP", "Tuning", "Debugging", "AddingAChip"],
    "How it works": [
        "Semantics", "Architecture", "Lowering", "Schedule", "Emulator", "EmulatorInstructions",
        "Timing", "Performance", "Comparison",
    ],
    "Reference": ["Dialect", "Passes", "api/cpp/index", "api/c/index", "api/python"],
    "More": [],
    "Project": ["CONTRIBUTING", "CHANGELOG", "Testing", "Releasing"],
}  # fmt: skip
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
LANGUAGES = {".h": "c++", ".cpp": "c++", ".def": "c++", ".c": "c", ".py": "python"}


class Site:
    """The pages below `stage`, made of the checkout `root`."""

    def __init__(self, root, stage):
        self.root, self.stage = root, stage
        self.pages = {"README.md": root / "README.md"}
        for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
            self.pages[name] = root / name
        for path in sorted((root / "docs").rglob("*.md")):
            self.pages[path.relative_to(root / "docs").as_posix()] = path
        self.headers = {}
        for folder, api in (("attn", "cpp"), ("attn-c", "c")):
            for path in sorted((root / "include" / folder).rglob("*.h")):
                name = path.relative_to(root / "include" / folder).with_suffix(".md")
                self.headers[f"api/{api}/{name.as_posix()}"] = path
        self.places = {path: name for name, path in (self.pages | self.headers).items()}

    def place(self, path):
        """Where the site has the file or folder `path`; None if nowhere."""
        if path in self.places:
            return self.places[path]
        if not path.exists() or self.root not in path.parents:
            return None
        if self.root / "docs" / "images" in path.parents:
            return path.relative_to(self.root / "docs").as_posix()
        return f"source/{path.relative_to(self.root).as_posix()}.md"

    def write(self, name, text):
        path = self.stage / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_page(self, name, path):
        """A checked-in page, its links moved to where the site has their targets."""

        def move(match):
            before, target, after = match.groups()
            if re.match(r"[a-z]+:", target):
                return match[0]
            found = (path.parent / target).resolve()
            place = self.place(found)
            # What the checkout lacks stays as it is, and Sphinx complains.
            if place is None:
                return match[0]
            if place.startswith("source/"):
                self.add_source(found)
            return f"{before}{posixpath.relpath(place, posixpath.dirname(name) or '.')}{after}"

        text = LINK.sub(move, path.read_text())
        # Pygments has no MLIR; the file's own comments are the only markup lost.
        text = re.sub(r"^```mlir$", "```text", text, flags=re.M)
        self.write(name, text)

    def add_source(self, path):
        """A file of the checkout, or the list of a folder's files, as a page."""
        title = path.relative_to(self.root).as_posix()
        if path.is_dir():
            files = sorted(child for child in path.iterdir() if child.is_file())
            for file in files:
                self.add_source(file)
            body = "".join(f"- [{file.name}]({path.name}/{file.name}.md)\n" for file in files)
        else:
            body = f"````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}\n````\n"
        # Reached by links alone.
        self.write(self.place(path), f"---\norphan: true\n---\n\n# {title}\n\n{body}")

    def add_headers(self):
        counts = {}
        for name, path in self.headers.items():
            include = path.relative_to(self.root / "include").as_posix()
            text, counts[name] = cpp_reference.page(path, include)
            self.write(name, text)
        for api, title in (("cpp", "C++"), ("c", "C")):
            names = [name for name in self.headers if name.startswith(f"api/{api}/")]
            if not names:
                continue
            local = [posixpath.relpath(name, f"api/{api}") for name in names]
            lines = [f"# {title} API", "", "| header | documented |", "|---|---|"]
            for name, short in zip(names, local, strict=True):
                include = self.headers[name].relative_to(self.root / "include")
                lines.append(f"| [{include}]({short}) | {counts[name]} |")
            lines += ["", "```{toctree}", ":hidden:", "", *local, "```", ""]
            self.write(f"api/{api}/index.md", "\n".join(lines))

    def add_index(self):
        """README as the front page, with the table of contents."""
        sections = {title: list(names) for title, names in SECTIONS.items()}
        named = {name for names in sections.values() for name in names} | {"README"}
        sections["More"] = sorted({name.removesuffix(".md") for name in self.pages} - named)
        text = (self.stage / "README.md").read_text()
        (self.stage / "README.md").unlink()
        for title, names in sections.items():
            names = [name for name in names if (self.stage / f"{name}.md").exists()]
            if names:
                lines = ["```{toctree}", ":hidden:", f":caption: {title}", "", *names, "```"]
                text += "\n" + "\n".join(lines) + "\n"
        self.write("index.md", text)

    def add_all(self):
        shutil.rmtree(self.stage, ignore_errors=True)
        self.places[self.root / "README.md"] = "index.md"
        self.add_headers()
        if (self.root / "python" / "attn_mlir" / "__init__.py").exists():
            self.add_python()
        for name, path in self.pages.items():
            self.add_page(name, path)
        if (self.root / "docs/images").exists():
            shutil.copytree(self.root / "docs/images", self.stage / "images")
        self.add_index()

    def add_python(self):
        lines = ["# Python API", "", "```{eval-rst}", ".. automodule:: attn_mlir"]
        self.write("api/python.md", "\n".join([*lines, "   :members:", "```", ""]))


def build(root, output):
    """Builds the site of the checkout `root`; Sphinx's exit code."""
    from sphinx.cmd.build import main as sphinx

    stage = output.with_name(output.name + "-source")
    Site(root, stage).add_all()
    sys.path.insert(0, str(root / "python"))
    number = version(root)
    options = ["-b", "html", "-c", str(pathlib.Path(__file__).parent), "-W", "--keep-going", "-q"]
    options += ["-D", f"version={number}", "-D", f"html_title=AttnMLIR {number}"]
    options += ["-d", str(output.with_name(output.name + "-doctrees"))]
    return sphinx([*options, str(stage), str(output)])


def main():
    parser = argparse.ArgumentParser(prog="utils/docs", description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "site")
    args = parser.parse_args()
    code = build(ROOT, args.output.resolve())
    if code == 0:
        print(f"utils/docs: {args.output / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
