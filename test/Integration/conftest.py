"""Parameters shared by all integration tests: devices and element types."""

import os
import pathlib
import shutil
import sys
import tempfile

import hypothesis
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import attn_program  # noqa: E402
from devices import DEVICES, Device  # noqa: E402
from repository import ROOT  # noqa: E402

# The package of the checkout, on the library of the build under test.
sys.path.insert(0, str(ROOT / "python"))
os.environ["ATTN_LIBRARY"] = str(attn_program.BUILD / "lib/libAttnC.so")
# Its tests compile some hundred programs for sizes that run in no time.
os.environ["ATTN_OPT_LEVEL"] = "0"

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


def _kinds(item):
    marker = item.get_closest_marker("kinds")
    return marker.args if marker else ("f16", "bf16", "f32")


def pytest_generate_tests(metafunc):
    """Fills `device`, and `kind` with the element types the device computes.

    `@pytest.mark.kinds("f16", ...)` narrows the types of a test.
    """
    kinds = _kinds(metafunc.definition)
    marks = metafunc.definition.iter_markers("parametrize")
    if any("device" in mark.args[0] for mark in marks):
        return
    if "device" not in metafunc.fixturenames:
        if "kind" in metafunc.fixturenames:
            metafunc.parametrize("kind", kinds)
        return
    if "kind" not in metafunc.fixturenames:
        metafunc.parametrize("device", DEVICES, ids=str)
        return
    pairs = [(d, k) for d in DEVICES for k in kinds if k in d.kinds]
    metafunc.parametrize("device, kind", pairs, ids=[f"{d}-{k}" for d, k in pairs])


# Of a sanitizer build, which a program without the sanitizers' runtime cannot load.
_INSTRUMENTED = "ATTN_ENABLE_SANITIZERS:BOOL=ON" in (attn_program.BUILD / "CMakeCache.txt").read_text()
_LOADS_LIBRARY = ("test_capi", "test_python", "test_ring_attention")


def pytest_collection_modifyitems(items):
    """On the emulator only smoke tests are quick, with one of the 16-bit types."""
    for item in items:
        if _INSTRUMENTED and item.path.name.startswith(_LOADS_LIBRARY):
            item.add_marker(pytest.mark.skip(reason="libAttnC.so is built with sanitizers"))
        params = item.callspec.params if hasattr(item, "callspec") else {}
        device = params.get("device")  # something else where a test has none
        if isinstance(device, Device) and device.is_gpu:
            is_twin = params.get("kind") == "bf16" and "f16" in _kinds(item)
            if is_twin or not item.get_closest_marker("smoke"):
                item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item):
    """Skips what the device does not support, see `devices.FEATURES`."""
    needed = [name for mark in item.iter_markers("needs") for name in mark.args]
    if needed:
        device = item.callspec.params["device"]
        lacking = device.lacks(*needed)
        if lacking:
            pytest.skip(f"{device} lacks {', '.join(lacking)}")


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        # One cache of compiled programs for all workers of this run.
        os.environ["ATTN_CACHE_DIR"] = tempfile.mkdtemp(prefix="attn-test-cache-")
    config.addinivalue_line("markers", "slow: left out by utils/test --quick")
    config.addinivalue_line("markers", "smoke: quick on the emulator too")
    config.addinivalue_line("markers", "needs(*names): features, by their ids in features.json")
    config.addinivalue_line("markers", "kinds(*names): element types a test runs with")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop("ATTN_CACHE_DIR"), ignore_errors=True)


def pytest_report_header():
    return "devices: " + ", ".join(map(str, DEVICES))
