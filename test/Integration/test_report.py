"""attn-report: one HTML file, looked at with a real browser."""

import re
import subprocess

import pytest
from attn_program import tool
from browser import drive

# The comment would end the page's script if it were pasted as it is.
MODULE = """// </script><b>&amp;
func.func @attention(%q: tensor<1x4x512x128xbf16>, %k: tensor<1x2x512x128xbf16>,
                     %v: tensor<1x2x512x128xbf16>) -> tensor<1x4x512x128xbf16> {
  %e = tensor.empty() : tensor<1x4x512x128xbf16>
  %o = attn.attention ins(%q, %k, %v : tensor<1x4x512x128xbf16>, tensor<1x2x512x128xbf16>,
                          tensor<1x2x512x128xbf16>)
       outs(%e : tensor<1x4x512x128xbf16>) {causal}
  return %o : tensor<1x4x512x128xbf16>
}
"""


def report(folder, chip, *flags, module=MODULE):
    (folder / "attention.mlir").write_text(module)
    page = folder / f"{chip}.html"
    command = [tool("attn-report"), folder / "attention.mlir", f"--chip={chip}", "-o", page, *flags]
    return page, subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    result = {}
    for chip in ("gfx942", "gfx950"):
        result[chip], done = report(tmp_path_factory.mktemp("report"), chip, "--timing")
        assert (done.returncode, done.stderr) == (0, "")
    return result


@pytest.fixture
def page(pages):
    return pages["gfx950"]


@pytest.mark.slow
def test_nothing_comes_from_outside(page):
    text = page.read_text()
    shell = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:)|@import|url\(|fetch\(""", shell)


@pytest.mark.slow
def test_tabs_and_keyboard(page, tmp_path):
    tabs = drive(
        page,
        """
        const seen = [];
        const tabs = () => [...document.querySelectorAll('[role=tab]')];
        const state = () => ({tab: tabs().find(t => t.getAttribute('aria-selected') === 'true').textContent,
            focus: document.activeElement.textContent, hash: location.hash,
            panels: [...document.querySelectorAll('[role=tabpanel]')].filter(p => !p.hidden).map(p => p.innerText.length > 100)});
        for (const tab of tabs()) { tab.click(); await pause(); seen.push(state()); }
        tabs()[0].click(); tabs()[0].focus();
        key(tabs()[0], 'ArrowRight'); await pause(); seen.push(state());
        key(tabs()[1], 'End'); await pause(); seen.push(state());
        return seen;""",
        tmp_path,
    )
    names = ["Overview", "Levels", "Assembly", "LDS", "MFMA fragments", "Timeline"]
    assert [state["tab"] for state in tabs] == [*names, "Levels", "Timeline"]
    assert all(state["panels"] == [True] for state in tabs)  # one shown, and not empty
    assert tabs[-2]["focus"] == "Levels" and tabs[-2]["hash"] == "#levels"


@pytest.mark.slow
def test_overview_has_the_figures_of_the_manifest(page, tmp_path):
    chip = page.stem
    text = drive(page, "return document.querySelector('#panel-overview').innerText;", tmp_path)
    command = [tool("attn-compile"), page.parent / "attention.mlir", f"--chip={chip}"]
    command += ["-o", tmp_path / "k.hsaco", "--kernel-stats"]
    stats = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    for name, pattern in {"vgprs": "VGPRs\\s+{}", "sgprs": "SGPRs\\s+{}", "lds_bytes": "LDS\\s+{}"}.items():
        value = int(re.search(rf'"{name}":(\d+)', stats)[1])
        assert re.search(pattern.format(f"{value:,}"), text), (name, value, text)
    assert "2 of 8 waves a SIMD" in text and "Predicted time" in text


@pytest.mark.slow
def test_levels_are_compared(page, tmp_path):
    levels = drive(
        page,
        """
        document.getElementById('tab-levels').click();
        const result = [];
        const steps = () => [...document.querySelectorAll('.steps button')];
        const folded = document.querySelector('.bar input');
        for (let i = 1; i < steps().length; ++i) {
          steps()[i].click(); await pause();
          const number = text => +text.replace(/[^0-9]/g, '');
          const lines = n => number(steps()[n].querySelector('small').textContent);
          const rows = [...document.querySelectorAll('.diff .row')];
          result.push({name: steps()[i].firstChild.textContent, before: lines(i - 1), after: lines(i),
            added: number(document.querySelector('.plus').textContent), removed: number(document.querySelector('.minus').textContent),
            shown: rows.length, add: document.querySelectorAll('.row .add').length, marks: document.querySelectorAll('mark').length,
            folds: document.querySelectorAll('.fold').length, left: rows.map(r => r.children[1].className === 'none' ? null : r.children[1].textContent).filter(t => t !== null)});
          if (result.length > 1) delete result.at(-1).left;
          const fold = document.querySelector('.fold');
          if (fold) { const n = document.querySelectorAll('.diff .row').length; fold.click();
            result.at(-1).unfolded = document.querySelectorAll('.diff .row').length - n; }
        }
        return result;""",
        tmp_path,
    )
    by_name = {level["name"]: level for level in levels}
    assert list(by_name) == [
        "bufferized", "attn-to-gpu", "attn-schedule", "attn-buffer-resources",
        "convert-attn-to-rocdl", "llvm",
    ]  # fmt: skip
    for level in levels:  # each line is the same, removed or added
        assert level["before"] - level["removed"] == level["after"] - level["added"], level
        assert level["add"] > 0, level
    assert "\n".join(by_name["bufferized"]["left"]) == MODULE.rstrip("\n")
    # The scheduler moves operations: a part of the program is added here and there.
    schedule = by_name["attn-schedule"]
    assert 0 < schedule["added"] < schedule["after"] / 2
    assert schedule["folds"] > 0 and schedule["unfolded"] > 0
    assert sum(level["marks"] for level in levels) > 0


@pytest.mark.slow
def test_pictures_follow_the_published_operand_maps(page, tmp_path):
    cells = drive(
        page,
        """
        document.getElementById('tab-fragments').click();
        const panel = document.getElementById('panel-fragments');
        const read = () => [...panel.querySelectorAll('.cell')].map((cell, i) =>
            [+cell.dataset.r, +cell.dataset.c, panel.querySelectorAll('.in')[i].textContent]);
        const scores = read();
        const picture = panel.querySelector('svg[tabindex]');
        key(picture, 'ArrowDown'); key(picture, 'ArrowRight');
        const info = panel.querySelector('.info').textContent;
        const outlined = panel.querySelectorAll('.same').length;
        const choose = panel.querySelector('select');
        choose.value = 'k'; choose.dispatchEvent(new Event('change')); await pause();
        return {scores, info, outlined, key: read()};""",
        tmp_path,
    )
    assert len(cells["scores"]) == 32 * 32
    for key, query, lane in cells["scores"]:  # rows 8*(r/4) + 4*(l/32) + r%4
        assert int(lane) == query + 32 * (key // 4 % 2), (key, query)
    assert "lane 1, accumulator register 1" in cells["info"] and cells["outlined"] == 16
    for key, dim, lane in cells["key"]:  # 16 bytes a lane
        assert int(lane) == key + 32 * (dim // 8), (key, dim)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_lds_pictures_show_every_chunk_once(chip, pages, tmp_path):
    tile = drive(
        pages[chip],
        """
        document.getElementById('tab-lds').click();
        const panel = document.getElementById('panel-lds');
        const pictures = [...panel.querySelectorAll('svg[tabindex]')];
        const keys = [...pictures[1].querySelectorAll('.in')].map(t => t.textContent);
        key(pictures[0], 'ArrowRight');
        const info = panel.querySelector('.info').textContent;
        const outline = [...panel.querySelectorAll('select')].at(-1);
        outline.value = '0'; outline.dispatchEvent(new Event('change')); await pause();
        const hits = panel.querySelectorAll('.picture:first-child .hit').length;
        return {program: pictures[0].querySelectorAll('.cell').length, keys, info, hits};""",
        tmp_path,
    )
    # Keys of 256 bytes: 16 chunks each.
    keys = tile["program"] // 16
    assert keys in (32, 64)
    shown = [int(key) for key in tile["keys"] if key]
    assert sorted(shown) == sorted(list(range(keys)) * 16)
    assert tile["info"].startswith("key 0, columns 8 to 15")
    assert tile["hits"] == 64  # a 16-byte read of 64 lanes, no two of one chunk


@pytest.mark.slow
def test_narrow_and_dark(page, tmp_path):
    wide = drive(
        page,
        """
        const result = [];
        for (const tab of document.querySelectorAll('[role=tab]')) {
          tab.click(); await pause();
          result.push([tab.textContent, document.documentElement.scrollWidth - innerWidth]);
        }
        return {result, background: getComputedStyle(document.body).backgroundColor};""",
        tmp_path,
        size="400,800",
        dark=True,
    )
    assert all(excess <= 0 for _, excess in wide["result"]), wide["result"]
    assert max(map(int, re.findall(r"\d+", wide["background"])[:3])) < 64


@pytest.mark.slow
def test_timing_needs_static_sizes(tmp_path):
    text = MODULE.replace("512x128", "?x128").replace("tensor.empty()", "tensor.empty(%n)")
    text = text.replace("  %e", "  %c = arith.constant 2 : index\n  %n = tensor.dim %q, %c : tensor<1x4x?x128xbf16>\n  %e")
    page, done = report(tmp_path, "gfx950", "--timing", module=text)
    expected = r"error: --timing expects static sizes, but 'arg0' has the size '.*'\n"
    assert done.returncode == 1 and re.fullmatch(expected, done.stderr), done.stderr
    assert not page.exists()
    assert report(tmp_path, "gfx950", module=text)[1].returncode == 0


def test_errors_are_one_line_and_leave_no_file(tmp_path):
    page, done = report(tmp_path, "gfx900")
    assert done.returncode == 1 and re.fullmatch(r"error: --chip: .*\n", done.stderr)
    assert not page.exists()
