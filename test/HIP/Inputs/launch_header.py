"""Turns a manifest of static shapes into a C++ header for host.cpp.

    launch_header.py MANIFEST.json HEADER.h
"""

import json
import math
import sys

WIDTHS = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i64": 8}
ENTRY = "{{{offset}, {size}, {buffer}, {value}}},"


def main():
    path, header = sys.argv[1:]
    with open(path) as file:
        manifest = json.load(file)
    names = [buffer["name"] for buffer in manifest["buffers"]]
    (launch,) = manifest["launches"]
    (kernel,) = manifest["kernels"]
    lines = [
        f'constexpr char kernelName[] = "{kernel["name"]}";',
        f"constexpr unsigned grid[3] = {{{', '.join(map(str, launch['grid']))}}};",
        f"constexpr unsigned block[3] = {{{', '.join(map(str, kernel['block']))}}};",
        f"constexpr size_t kernargBytes = {max(a['offset'] + a['size'] for a in kernel['args'])};",
        "constexpr struct { const char *name; size_t bytes; bool isOutput; } buffers[] = {",
    ]
    for buffer in manifest["buffers"]:
        size = math.prod(buffer["shape"]) * WIDTHS[buffer["dtype"]]
        lines.append(f'{{"{buffer["name"]}", {size}, {str(buffer["role"] != "input").lower()}}},')
    lines += ["};", "constexpr struct { size_t offset, size; int buffer; long value; } args[] = {"]
    for arg in kernel["args"]:
        buffer = names.index(arg["buffer"]) if "buffer" in arg else -1
        lines.append(ENTRY.format(**{"value": 0, **arg, "buffer": buffer}))
    lines.append("};")
    with open(header, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
