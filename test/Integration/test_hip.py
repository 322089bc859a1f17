"""A handful of the cases through `--device=hip` and the stand-in for libamdhip64.

With a GPU all of them run: ATTN_TEST_DEVICES=hip:gfx942 pytest test/Integration.
"""

import pytest
import test_a_empty_rows as a
import test_b_lse_and_merge as b
import test_d_shapes as d
import test_e_memory as e
import test_f_backend as f
import test_launch_checks as checks
from attn_program import BUILD
from devices import Device

CASES = {
    "A2": lambda device: a.test_A2_causal_with_more_queries_than_keys(device, "f16"),
    "B8": lambda device: b.test_B8_every_head_of_a_group_writes_its_lse(device, "bf16", 1),
    "B9": lambda device: b.test_B9_nothing_is_written_behind_the_lse(device, "f16"),
    "D11": lambda device: d.test_D11_causal_alignment_when_lengths_differ(device, "bf16"),
    "E1": lambda device: e.test_E1_each_operand_as_a_transposed_view(device, "f16"),
    "E5": lambda device: e.test_E5_offset_of_a_view(device, "bf16", dynamic=False),
    "F3": lambda device: f.test_F3_visible_nan_stays_and_invisible_nan_does_nothing(device, "f32"),
}


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize("case", CASES)
def test_case_through_hip(case, chip, monkeypatch):
    monkeypatch.setenv("ATTN_HIP_LIBRARY", str(BUILD / "test/HIP/lib/libamdhip64.so"))
    CASES[case](Device(chip, hip=True))


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_what_is_missing_or_does_not_fit_is_refused(chip, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTN_HIP_LIBRARY", str(BUILD / "test/HIP/lib/libamdhip64.so"))
    device = Device(chip, hip=True)
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    checks.test_an_entry_with_lse_does_not_run_without_one(device, "f16", folders[0])
    checks.test_an_entry_with_a_workspace_does_not_run_without_one(device, "f16", folders[1])
    checks.test_what_does_not_fit_is_refused_before_the_launch(device, "f16", checks.paged, folders[2])
