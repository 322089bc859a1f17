"""Parameters shared by all integration tests: devices and element types."""

import pathlib
import sys

import hypothesis
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from devices import DEVICES  # noqa: E402

# The same examples in every run of a commit; a failure prints its blob.
hypothesis.settings.register_profile(
    "attn",
    deadline=None,
    derandomize=True,
    print_blob=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("attn")


def pytest_generate_tests(metafunc):
    """Fills `device`, and `kind` with the element types the device computes.

    `@pytest.mark.kinds("f16", ...)` narrows the types of a test.
    """
    names = metafunc.fixturenames
    marker = metafunc.definition.get_closest_marker("kinds")
    wanted = marker.args if marker else ("f16", "bf16", "f32")
    if "device" in names and "kind" in names:
        pairs = [(d, k) for d in DEVICES for k in wanted if k in d.kinds]
        metafunc.parametrize("device, kind", pairs, ids=[f"{d}-{k}" for d, k in pairs])
    elif "device" in names:
        metafunc.parametrize("device", DEVICES, ids=str)
    elif "kind" in names:
        metafunc.parametrize("kind", wanted)


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by utils/test --quick")
    config.addinivalue_line("markers", "kinds(*names): element types a test runs with")


def pytest_report_header():
    return "devices: " + ", ".join(map(str, DEVICES))
