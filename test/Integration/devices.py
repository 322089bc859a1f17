"""What the tests run on: the one place that lists devices and what they support.

ATTN_TEST_DEVICES, a comma-separated list, replaces the default; `hip:gfx942` is a
GPU of that chip instead of the emulator. What a device supports is the support
table's source, docs/features.json: a test that needs (`@pytest.mark.needs`) more
than a device supports is skipped on it.
"""

import json
import os
from dataclasses import dataclass

from repository import ROOT

# Compiling dominates the time of most tests: a quick run lowers the level.
OPTIMIZE = os.environ.get("ATTN_TEST_OPTIMIZE", "3")

FEATURES = {
    row["id"]: row for row in json.loads((ROOT / "docs/features.json").read_text())["features"]
}


@dataclass(frozen=True)
class Device:
    """`cpu`, or a chip (`gfx942`, `gfx950`) on the emulator or through HIP."""

    name: str
    hip: bool = False

    @classmethod
    def parse(cls, text):
        return cls(text.removeprefix("hip:"), text.startswith("hip:"))

    @property
    def is_gpu(self):
        return self.name != "cpu"

    @property
    def kinds(self):
        """The element types it computes with."""
        return ("f16", "bf16", *(kind for kind in ("f32", "f64") if not self.lacks(kind)))

    def lacks(self, *features):
        """Those of the features that it does not support."""
        return [name for name in features if self.name not in FEATURES[name]["devices"]]

    @property
    def arguments(self):
        """The flags of attn-run that choose this device."""
        if self.hip:
            return ["--device=hip", f"--chip={self.name}"]
        if self.is_gpu:
            return ["--device=emulator", f"--chip={self.name}", "--check=all"]
        return ["--device=cpu", f"--optimize={OPTIMIZE}"]

    def __str__(self):
        return f"hip:{self.name}" if self.hip else self.name


DEVICES = [
    Device.parse(text)
    for text in os.environ.get("ATTN_TEST_DEVICES", "cpu,gfx942,gfx950").split(",")
]
