"""Programs compiled once and launched many times, with inputs good and bad."""

import json
import subprocess

from attn_program import load, module_text, save, tool


class Program:
    """Problems compiled once; for chips a code object with its manifest."""

    def __init__(self, folder, problems, device):
        self.folder = folder
        text, self.arrays = module_text(problems, device)
        self.outputs = [name for name in self.arrays if name.startswith(("output_", "lse_"))]
        self.source = folder / "program.mlir"
        self.source.write_text(text)
        for name, array in self.arrays.items():
            save(folder / f"{name}.npy", array)
        self.command = [tool("attn-run"), str(self.source), *device.arguments]
        if device.is_gpu:
            code, self.manifest = folder / "program.hsaco", folder / "program.json"
            flags = [f"--chip={device.name}", "-o", str(code), f"--manifest={self.manifest}"]
            subprocess.run([tool("attn-compile"), str(self.source), *flags], check=True)
            flags = [f for f in device.arguments if not f.startswith("--chip")]
            self.as_module = self.command
            self.command = [tool("attn-run"), str(code), f"--manifest={self.manifest}", *flags]

    def change_manifest(self, change):
        manifest = json.loads(self.manifest.read_text())
        change(manifest)
        self.manifest.write_text(json.dumps(manifest))

    def drop_rules(self):
        """Launches without the checks of sizes and numbers, as others might."""
        self.change_manifest(lambda manifest: [manifest.pop(x, None) for x in ("contents", "multiples")])

    def load(self, name):
        return load(self.folder / f"{name}.result.npy", self.arrays[name].dtype)

    def run(self, command=None, **changes):
        command = list(command or self.command)
        for name in self.arrays:
            path = self.folder / f"{name}.npy"
            if name in changes:
                path = self.folder / f"{name}.changed.npy"
                save(path, changes[name])
            command += ["--in", f"{name}={path}"]
        for name in self.outputs:
            command += ["--out", f"{name}={self.folder / name}.result.npy"]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)

    def expect_error(self, message, command=None, **changes):
        done = self.run(command, **changes)
        assert done.returncode == 1, (changes, done.returncode, done.stderr)
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("error: "), done.stderr
        assert message in lines[0], f"expects {message!r} in {lines[0]!r}"
        written = [name for name in self.outputs if (self.folder / f"{name}.result.npy").exists()]
        assert not written, f"{written} were written"
