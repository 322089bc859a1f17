"""The support table of README.md, generated from docs/features.json.

A row lists the devices a feature works on and the tests that show it; the test
suite checks that they exist and that the table in README.md is this one.
Usage: utils/support_table.py [--write]
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- support table: begin -->\n", "<!-- support table: end -->\n"


def load():
    return json.loads((ROOT / "docs" / "features.json").read_text())


def rows():
    return load()["features"]


def table():
    devices = load()["devices"]
    lines = [f"| feature | {' | '.join(devices)} |", "|---" * (len(devices) + 1) + "|"]
    for row in rows():
        unknown = set(row["devices"]) - set(devices)
        assert not unknown, f"{row['feature']}: unknown devices {unknown}"
        cells = ["yes" if device in row["devices"] else "–" for device in devices]
        lines.append(f"| {row['feature']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(text):
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    assert begin and end, "README.md lacks the marks of the support table"
    return head + BEGIN + table() + END + tail


def is_current():
    return README.read_text() == with_table(README.read_text())


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        README.write_text(with_table(README.read_text()))
    else:
        print(table(), end="")
