"""What the tests run on: the one place that lists devices.

ATTN_TEST_DEVICES, a comma-separated list, replaces the default.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """`cpu`, or a chip (`gfx942`, `gfx950`) on the emulator."""

    name: str

    @property
    def is_gpu(self):
        return self.name != "cpu"

    @property
    def kinds(self):
        """The element types it computes with."""
        return ("f16", "bf16") if self.is_gpu else ("f16", "bf16", "f32", "f64")

    @property
    def arguments(self):
        """The flags of attn-run that choose this device."""
        if self.is_gpu:
            return ["--device=emulator", f"--chip={self.name}"]
        return ["--device=cpu"]

    def __str__(self):
        return self.name


DEVICES = [Device(name) for name in os.environ.get("ATTN_TEST_DEVICES", "cpu").split(",")]
