"""A page in headless Chromium, driven by a script that is added to it."""

import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium")

# Collects what goes wrong from before the page's own script on, and shows what
# the driving script returns in the page that --dump-dom prints.
BEFORE = """<script>
window.problems = [];
window.addEventListener('error', e => problems.push(String(e.message)));
window.addEventListener('unhandledrejection', e => problems.push(String(e.reason)));
for (const name of ['error', 'warn'])
  console[name] = (...rest) => problems.push(rest.join(' '));
</script>"""
AFTER = """<script>
window.addEventListener('load', async () => {
  const pause = () => new Promise(done => setTimeout(done, 20));
  const key = (node, name) => node.dispatchEvent(
      new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
  let result;
  try { result = await (async () => { SCRIPT })(); } catch (e) { problems.push(String(e)); }
  const node = document.createElement('pre');
  node.id = 'driver-result';
  node.textContent = JSON.stringify({result, problems});
  document.body.append(node);
});
</script></body>"""


def drive(page, script, folder, size="1400,1000", dark=False):
    """What the JavaScript `script` returns when it runs in the file `page`.

    `pause()` lets the page draw, `key(node, name)` presses a key. Fails on any
    error, warning or request that the page makes.
    """
    if CHROMIUM is None:
        pytest.skip("chromium is not installed; utils/setup installs it")
    text = page.read_text()
    driven = folder / "driven.html"
    text = text.replace("<head>", "<head>" + BEFORE, 1)
    at = text.rindex("</body>")
    driven.write_text(text[:at] + AFTER.replace("SCRIPT", script) + text[at + len("</body>") :])
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={folder / 'chromium'}", f"--window-size={size}"]
    command += ["--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage"]
    if dark:
        command += ["--blink-settings=preferredColorScheme=0"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"]
    done = subprocess.run(
        [*command, driven.as_uri()], check=False, capture_output=True, text=True, timeout=120
    )
    found = re.search(r'<pre id="driver-result">(.*?)</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    answer = json.loads(
        found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    assert answer["problems"] == []
    assert "CONSOLE" not in done.stderr, done.stderr[-2000:]
    return answer["result"]
