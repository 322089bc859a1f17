'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);

// ---- Small tools ----------------------------------------------------------
const SVG = 'http://www.w3.org/2000/svg';
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name.startsWith('aria-')) node.setAttribute(name, value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat(9))
    if (child != null && child !== false) node.append(child);
  return node;
}
const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
const number = value => Math.round(value).toLocaleString('en-US');
const percent = value => (100 * value).toFixed(1) + ' %';
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;
const range = n => Array.from({length: n}, (_, i) => i);
function table(head, rows, caption) {
  const numeric = value => typeof value === 'number' || (value instanceof Node && value.className === 'n');
  const cell = (tag, value, i) => value instanceof Node && /^T[DH]$/.test(value.tagName) ? value :
    el(tag, {class: i && (numeric(value) || (tag === 'th' && rows.length && numeric(rows[0][i]))) ? 'n' : null, scope: tag === 'th' ? 'col' : null},
       typeof value === 'number' ? number(value) : value);
  return el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption || 'table'},
    el('table', {}, caption && el('caption', {}, caption),
      head && el('thead', {}, el('tr', {}, head.map((h, i) => cell('th', h, i)))),
      el('tbody', {}, rows.map(row => el('tr', {}, row.map((v, i) =>
        cell('td', v, i)))))));
}
function select(label, options, value, change) {
  const node = el('select', {onchange: () => change(node.value)},
    options.map(([key, text]) => el('option', {value: key, selected: String(key) === String(value)}, text)));
  return el('label', {}, label, node);
}

// ---- Tabs -----------------------------------------------------------------
const tabs = [];
function show(id, focus) {
  const tab = tabs.find(t => t.id === id) || tabs[0];
  for (const t of tabs) {
    const on = t === tab;
    t.button.setAttribute('aria-selected', on);
    t.button.tabIndex = on ? 0 : -1;
    t.panel.hidden = !on;
  }
  if (!tab.done) { tab.done = true; tab.render(tab.panel); }
  if (focus) tab.button.focus();
  if (location.hash !== '#' + tab.id) history.replaceState(null, '', '#' + tab.id);
}
function addTab(id, title, render) {
  const panel = el('section', {role: 'tabpanel', id: 'panel-' + id, 'aria-labelledby': 'tab-' + id, hidden: true});
  const button = el('button', {role: 'tab', id: 'tab-' + id, 'aria-controls': 'panel-' + id, type: 'button',
    onclick: () => show(id)}, title);
  button.addEventListener('keydown', event => {
    const at = tabs.findIndex(t => t.id === id), n = tabs.length;
    const to = {ArrowRight: (at + 1) % n, ArrowLeft: (at + n - 1) % n, Home: 0, End: n - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(tabs[to].id, true);
  });
  tabs.push({id, button, panel, render});
  document.getElementById('tabs').append(button);
  document.getElementById('main').append(panel);
}

// ---- Overview ---------------------------------------------------------------
function gauge(value, limit, text) {
  const share = limit ? Math.min(1, value / limit) : 0;
  return el('td', {}, text, limit ? el('span', {class: 'gauge', role: 'img',
    'aria-label': `${percent(share)} of ${number(limit)}`}, el('i', {style: `width:${100 * share}%`})) : null);
}
function occupancy(kernel) {
  const chip = data.chip, perSIMD = kernel.workgroups_per_cu * kernel.waves / chip.simds;
  const w = 22, gap = 4, left = 52, height = chip.simds * 24;
  return svg('svg', {viewBox: `0 0 ${left + chip.waves_per_simd * (w + gap)} ${height}`, width: left + chip.waves_per_simd * (w + gap),
      height, role: 'img', 'aria-label': `${perSIMD} of ${chip.waves_per_simd} waves on each of ${chip.simds} SIMDs`},
    range(chip.simds).map(simd => [
      svg('text', {x: 0, y: simd * 24 + 15, 'font-size': 11, class: 'axis'}, `SIMD ${simd}`),
      range(chip.waves_per_simd).map(i => svg('rect', {x: left + i * (w + gap), y: simd * 24 + 2, width: w, height: 18, rx: 4,
        style: `fill:${i < perSIMD ? 'var(--accent)' : 'var(--track)'}`}))]));
}
function kernelCard(kernel) {
  const chip = data.chip, perSIMD = Math.max(1, kernel.waves / chip.simds);
  const limit = chip.vgprs_per_simd / perSIMD, wavesNow = kernel.workgroups_per_cu * kernel.waves / chip.simds;
  const by = kernel.by_registers < kernel.by_lds ? 'registers' : kernel.by_lds < kernel.by_registers ? 'LDS' : 'registers and LDS alike';
  const clean = n => n ? el('span', {class: 'bad'}, number(n)) : el('span', {class: 'good'}, 'none');
  return el('div', {class: 'card'}, el('h2', {}, 'Kernel ', el('code', {}, kernel.name)),
    table(null, [
      [el('th', {scope: 'row'}, 'VGPRs'), gauge(kernel.vgprs, limit, `${kernel.vgprs} of ${limit} at ${plural(perSIMD, 'wave')} a SIMD`)],
      [el('th', {scope: 'row'}, 'AGPRs'), gauge(kernel.agprs, 0, String(kernel.agprs))],
      [el('th', {scope: 'row'}, 'SGPRs'), gauge(kernel.sgprs, 102, `${kernel.sgprs} of 102`)],
      [el('th', {scope: 'row'}, 'LDS'), gauge(kernel.lds_bytes, chip.lds_bytes, `${number(kernel.lds_bytes)} of ${number(chip.lds_bytes)} bytes`)],
      [el('th', {scope: 'row'}, 'Scratch a lane'), gauge(0, 0, kernel.scratch_bytes ? el('span', {class: 'bad'}, number(kernel.scratch_bytes) + ' bytes') : clean(0))],
      [el('th', {scope: 'row'}, 'Spilled registers'), gauge(0, 0, clean(kernel.vgpr_spills + kernel.sgpr_spills))],
      [el('th', {scope: 'row'}, 'Kernel arguments'), gauge(0, 0, `${kernel.kernarg_bytes} bytes`)],
    ], 'Resources'),
    el('h3', {}, 'Occupancy'), el('div', {class: 'picture'}, occupancy(kernel)),
    el('p', {class: 'note'}, `${plural(kernel.workgroups_per_cu, 'workgroup')} of ${kernel.waves} waves on a compute unit: ` +
      `${wavesNow} of ${chip.waves_per_simd} waves a SIMD. Registers allow ${kernel.by_registers}, LDS ${kernel.by_lds}; the limit is ${by}.`));
}
function timingCard(t) {
  const figure = (title, text) => el('div', {}, el('dt', {}, title), el('dd', {}, text));
  return el('div', {class: 'card'}, el('h2', {}, 'Predicted time of ', el('code', {}, t.kernel)),
    el('dl', {class: 'big'}, figure('Launch', t.launch.projected_us.toFixed(1) + ' \u00b5s'),
      t.iterations ? [figure('Steady iteration', number(t.iteration_clocks) + ' clk'), figure('MFMA busy in it', percent(t.mfma_efficiency))] :
        figure('MFMA busy', percent(t.total_mfma_efficiency)),
      figure('Workgroup', number(t.clocks) + ' clk')),
    el('p', {class: 'note'}, `${plural(t.grid.reduce((a, b) => a * b), 'workgroup')} at ${t.clock_mhz} MHz: the timing model's prediction, not a measurement.`));
}
function overview(panel) {
  const m = data.manifest, l = data.layouts;
  const cards = el('div', {class: 'columns'}, data.kernels.map(kernelCard),
    (data.timing || []).map(timingCard),
    l.map(c => el('div', {class: 'card'}, el('h2', {}, 'How the kernel of ', el('code', {}, c.function), ' is cut'),
      table(null, [
        ['Program', c.pipelined ? 'software pipeline, two wave groups' : 'plain: stage, wait, multiply'],
        ['Element type', el('code', {}, c.element)],
        ['Head dims of Q K, of V', `${c.head_dim_qk}, ${c.head_dim_v}`],
        ['Tile', `${c.tile_q} rows of Q by ${c.tile_kv} keys`],
        ['Waves that share rows', c.split_v + (c.exchanges_p ? ', each with a part of the keys and of V\'s columns' : c.split_v > 1 ? ', each with a part of V\'s columns' : '')],
        ['Groups that share rows, each with a part of the keys', c.groups_kv],
        ['Blocks of 32 columns of V a wave', c.blocks_v],
        ['MFMA', `32x32x${c.mfma_depth}`],
        ['V read through', c.transposed_v ? 'transposed LDS reads' : 'plain LDS reads'],
        ['DMA to LDS', `${c.dma_bytes} bytes a lane`],
      ].map(([k, v]) => [el('th', {scope: 'row'}, k), String(v) === v || typeof v === 'number' ? String(v) : v]), null))),
    el('div', {class: 'card'}, el('h2', {}, 'Launches'),
      table(['kernel', 'grid', 'block'], m.launches.map(launch => [el('code', {}, launch.kernel), el('code', {}, launch.grid.join(' x ')),
        el('code', {}, (m.kernels.find(k => k.name === launch.kernel) || {block: []}).block.join(' x '))])),
      el('h3', {}, 'Buffers'),
      table(['name', 'type', 'shape', 'role'], m.buffers.map(b => [el('code', {}, b.name), el('code', {}, b.dtype), el('code', {}, b.shape.join(' x ') || 'scalar'), b.role])),
      el('p', {class: 'note'}, `Code object: ${number(data.code_object_bytes)} bytes.`)));
  panel.append(cards);
}

// ---- Comparison of levels -----------------------------------------------------
const about = {
  source: 'What was written: attn.attention on tensors or memrefs.',
  bufferized: 'The chip can do it; tensors have become memrefs.',
  'attn-to-gpu': 'One wave\'s program in upstream dialects: LDS staging, MFMA fragments, the software pipeline, and the launch.',
  'attn-schedule': 'The same operations; vector work is woven between the MFMAs.',
  'attn-buffer-resources': 'Every global access goes through a bounded buffer resource; reads that only feed LDS are DMA.',
  'convert-attn-to-rocdl': 'gpu, llvm and rocdl only.',
  llvm: 'LLVM IR after the clean-up passes, as code generation gets it.',
};
/// Matching pairs of the longest common subsequence (Myers, linear space).
function common(a, b) {
  const pairs = [];
  const size = 2 * (a.length + b.length) + 4, forward = new Int32Array(size), backward = new Int32Array(size);
  function walk(aLow, aHigh, bLow, bHigh) {
    while (aLow < aHigh && bLow < bHigh && a[aLow] === b[bLow]) pairs.push([aLow++, bLow++]);
    const tail = [];
    while (aLow < aHigh && bLow < bHigh && a[aHigh - 1] === b[bHigh - 1]) tail.push([--aHigh, --bHigh]);
    if (aLow < aHigh && bLow < bHigh) {
      const middle = snake(aLow, aHigh, bLow, bHigh);
      if (middle) {
        walk(aLow, middle[0], bLow, middle[1]);
        walk(middle[0], aHigh, middle[1], bHigh);
      }
    }
    while (tail.length) pairs.push(tail.pop());
  }
  function snake(aLow, aHigh, bLow, bHigh) {
    const n = aHigh - aLow, m = bHigh - bLow, delta = n - m, odd = delta & 1;
    const most = Math.min(Math.ceil((n + m) / 2), 4000), zero = most + 1;
    forward[zero + 1] = 0; backward[zero + 1] = 0;
    for (let d = 0; d <= most; ++d) {
      for (let k = -d; k <= d; k += 2) {
        let x = k === -d || (k !== d && forward[zero + k - 1] < forward[zero + k + 1]) ? forward[zero + k + 1] : forward[zero + k - 1] + 1;
        let y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a[aLow + x] === b[bLow + y]) { ++x; ++y; }
        forward[zero + k] = x;
        const c = delta - k;
        if (odd && c >= -(d - 1) && c <= d - 1 && x + backward[zero + c] >= n && x <= n && y <= m && y >= 0)
          return step(aLow, aHigh, bLow, bHigh, aLow + x, bLow + y);
      }
      for (let k = -d; k <= d; k += 2) {
        let x = k === -d || (k !== d && backward[zero + k - 1] < backward[zero + k + 1]) ? backward[zero + k + 1] : backward[zero + k - 1] + 1;
        let y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a[aHigh - 1 - x] === b[bHigh - 1 - y]) { ++x; ++y; }
        backward[zero + k] = x;
        const c = delta - k;
        if (!odd && c >= -d && c <= d && x + forward[zero + c] >= n && x <= n && y <= m && y >= 0)
          return step(aLow, aHigh, bLow, bHigh, aHigh - x, bHigh - y);
      }
    }
    return null;
  }
  // A split that does not split would not end.
  const step = (aLow, aHigh, bLow, bHigh, x, y) =>
    (x === aLow && y === bLow) || (x === aHigh && y === bHigh) ? null : [x, y];
  walk(0, a.length, 0, b.length);
  return pairs;
}
/// Rows of a side-by-side comparison: [left, right] line numbers or -1, and if they are the same.
function compare(left, right, ignoreNames) {
  const ids = new Map();
  const key = line => {
    let text = line.trim();
    if (ignoreNames) text = text.replace(/%[\w$.#-]+(:\d+)?/g, '%').replace(/\^bb\d+/g, '^').replace(/[!#]\d+\b/g, '#');
    if (!ids.has(text)) ids.set(text, ids.size);
    return ids.get(text);
  };
  const a = left.map(key), b = right.map(key);
  // Lines that the other side lacks are changes in any case.
  const inA = new Set(a), inB = new Set(b);
  const ia = range(a.length).filter(i => inB.has(a[i])), ib = range(b.length).filter(i => inA.has(b[i]));
  const rows = [];
  let i = 0, j = 0;
  const upTo = (iEnd, jEnd) => {
    while (i < iEnd || j < jEnd) rows.push([i < iEnd ? i++ : -1, j < jEnd ? j++ : -1, false]);
  };
  for (const [x, y] of common(ia.map(n => a[n]), ib.map(n => b[n]))) {
    upTo(ia[x], ib[y]);
    rows.push([i++, j++, true]);
  }
  upTo(a.length, b.length);
  return rows;
}
const token = /(\/\/.*$|;.*$)|("(?:[^"\\]|\\.)*")|(%[\w$.#-]+|\^[\w$.]+|@[\w$.]+)|\b((?:attn|arith|scf|vector|memref|gpu|amdgpu|rocdl|llvm|func|linalg|tensor|math|affine|cf|builtin|ub|bufferization)\.[\w.]+)|\b((?:tensor|memref|vector)<[^ <>]*(?:<[^>]*>[^<>]*)*>|(?:[if](?:8|16|32|64)|bf16|index|i1|ptr(?: addrspace\(\d+\))?)\b)/g;
function paint(node, text, from, to) {
  const put = (piece, at, cls) => {
    // The part that changed is marked; a token may straddle its ends.
    const cuts = [0, Math.min(Math.max(from - at, 0), piece.length), Math.min(Math.max(to - at, 0), piece.length), piece.length];
    for (let c = 0; c < 3; ++c) {
      const part = piece.slice(cuts[c], cuts[c + 1]);
      if (!part) continue;
      let child = cls ? el('span', {class: cls}, part) : document.createTextNode(part);
      if (c === 1 && to > from) child = el('mark', {}, child);
      node.append(child);
    }
  };
  let at = 0;
  for (const match of text.matchAll(token)) {
    if (match.index > at) put(text.slice(at, match.index), at, null);
    put(match[0], match.index, match[1] ? 'cm' : match[2] ? 'st' : match[3] ? 'va' : match[4] ? 'op' : 'ty');
    at = match.index + match[0].length;
  }
  if (at < text.length) put(text.slice(at), at, null);
}
function lineNode(text, cls, other) {
  const indent = Math.min(text.length - text.trimStart().length, 24);
  const node = el('code', {class: cls, style: `--in:${indent + 2}ch`});
  let from = 0, to = 0;
  if (other != null && cls) {
    while (from < text.length && text[from] === other[from]) ++from;
    let back = 0;
    while (back < text.length - from && back < other.length - from && text[text.length - 1 - back] === other[other.length - 1 - back]) ++back;
    to = text.length - back;
    // Lines that merely stand beside each other have little in common.
    if (to - from > 0.7 * text.trim().length) from = to = 0;
  }
  paint(node, text, from, to);
  return node;
}
const plainRow = (n, cls) => el('i', {class: cls, 'aria-hidden': true}, n < 0 ? '' : n + 1);
function levels(panel) {
  const texts = data.levels.map(level => level.text.replace(/\n$/, '').split('\n'));
  const cache = new Map();
  const rowsOf = (i, j) => {
    const id = `${i},${j},${ignore}`;
    if (!cache.has(id)) cache.set(id, compare(texts[i], texts[j], ignore));
    return cache.get(id);
  };
  let left = 0, right = Math.min(1, texts.length - 1), ignore = true, onlyChanges = true;
  const steps = el('ul', {class: 'steps', 'aria-label': 'Levels, from the source down'});
  const bar = el('div', {class: 'bar'}), summary = el('p', {class: 'note', 'aria-live': 'polite'}), diff = el('div', {class: 'diff', role: 'region', 'aria-label': 'Comparison', tabindex: 0});
  panel.append(el('div', {class: 'card'}, el('h2', {}, 'The way down'), steps, bar, summary, diff));
  const names = data.levels.map((level, i) => [i, `${i} ${level.name}`]);
  const go = (l, r) => { left = l; right = r; draw(); };
  function drawBar() {
    steps.replaceChildren(...data.levels.map((level, i) => el('li', {}, el('button', {type: 'button', 'aria-pressed': i === right,
      onclick: () => { go(Math.max(0, i - 1), i); steps.querySelectorAll('button')[i].focus(); }}, level.name, el('small', {}, plural(texts[i].length, 'line'))))));
    bar.replaceChildren(select('Left', names, left, v => go(+v, right)), select('Right', names, right, v => go(left, +v)),
      el('label', {}, el('input', {type: 'checkbox', checked: onlyChanges, onchange: e => { onlyChanges = e.target.checked; draw(); }}), 'changes only'),
      el('label', {}, el('input', {type: 'checkbox', checked: ignore, onchange: e => { ignore = e.target.checked; draw(); }}), 'ignore value names'));
  }
  function draw() {
    drawBar();
    const rows = rowsOf(left, right), a = texts[left], b = texts[right];
    const added = rows.filter(r => !r[2] && r[1] >= 0).length, removed = rows.filter(r => !r[2] && r[0] >= 0).length;
    summary.replaceChildren(el('b', {}, data.levels[right].name), ': ', about[data.levels[right].name] || '', ' ',
      el('span', {class: 'plus'}, `+${number(added)}`), ' ', el('span', {class: 'minus'}, `-${number(removed)}`), ' lines against ', el('b', {}, data.levels[left].name), '.');
    const head = el('div', {class: 'colhead'}, el('span', {}, data.levels[left].name), el('span', {}, data.levels[right].name));
    diff.replaceChildren(head);
    // Long runs without a change are folded.
    const items = [];
    for (let i = 0; i < rows.length;) {
      let end = i;
      while (end < rows.length && rows[end][2]) ++end;
      const before = i ? 3 : 0, after = end < rows.length ? 3 : 0;
      if (onlyChanges && end - i > before + after + 3) {
        for (let k = i; k < i + before; ++k) items.push(rows[k]);
        items.push({fold: rows.slice(i + before, end - after)});
        for (let k = end - after; k < end; ++k) items.push(rows[k]);
      } else for (let k = i; k < end; ++k) items.push(rows[k]);
      for (i = end; i < rows.length && !rows[i][2]; ++i) items.push(rows[i]);
    }
    const rowNode = ([l, r, same]) => el('div', {class: same ? 'row same' : 'row'},
      plainRow(l, l < 0 ? 'none-n' : null), l < 0 ? el('code', {class: 'none'}) : lineNode(a[l], same ? null : 'del', same || r < 0 ? null : b[r]),
      plainRow(r, r < 0 ? 'none-n' : null), r < 0 ? el('code', {class: 'none'}) : lineNode(b[r], same ? null : 'add', same || l < 0 ? null : a[l]));
    const node = item => {
      if (!item.fold) return rowNode(item);
      const button = el('button', {class: 'fold', type: 'button', onclick: () => button.replaceWith(...item.fold.map(rowNode))}, `${number(item.fold.length)} lines without a change`);
      return button;
    };
    let at = 0;
    const more = el('button', {class: 'more', type: 'button', onclick: () => append()});
    function append() {
      const part = items.slice(at, at += 400).map(node);
      more.remove();
      diff.append(...part);
      if (at < items.length) { more.textContent = `Show the next lines (${number(items.length - at)} left)`; diff.append(more); watch.observe(more); }
    }
    const watch = new IntersectionObserver(entries => { if (entries.some(e => e.isIntersecting)) append(); }, {rootMargin: '600px'});
    if (items.length && left !== right) append();
    else diff.append(el('p', {class: 'note', style: 'padding:0 .8rem'}, 'The two levels are the same text.'));
  }
  draw();
}

// ---- Assembly -------------------------------------------------------------------
const kinds = [
  ['mfma', 'MFMA', /^v_(mfma|smfmac)/], ['trans', 'transcendental', /^v_(exp|log|rcp|rsq|sqrt|sin|cos)/], ['valu', 'vector', /^v_/],
  ['lds', 'LDS', /^ds_/], ['vmem', 'global memory', /^(buffer|global|flat|scratch)_/], ['wait', 'wait, barrier, nop', /^s_(waitcnt|barrier|nop|sleep|setprio)/],
  ['salu', 'scalar', /^s_/],
];
function assembly(panel) {
  const all = data.assembly.replace(/\t/g, '  ').split('\n');
  const kindOf = text => { const t = text.trim(); const found = kinds.find(k => k[2].test(t)); return found ? found[0] : null; };
  const lines = all.map((text, i) => ({text, i, kind: kindOf(text), label: /^[.\w$]+:/.test(text)}));
  const last = lines.findLastIndex(l => l.kind);
  const body = lines.slice(0, last + 1), rest = lines.slice(last + 1);
  const instructions = body.filter(l => l.kind), on = new Set();
  const list = el('div', {class: 'asm', tabindex: 0, role: 'region', 'aria-label': 'Assembly'});
  const nodes = body.map(l => {
    const node = el('div', {class: 'l', style: l.kind ? `--c:var(--${l.kind})` : null, 'data-kind': l.kind}, el('i', {'aria-hidden': true}, l.i + 1), el('b', {}),
      el('code', {class: l.label ? 'lab' : null, style: '--in:4ch'}));
    paint(node.lastChild, l.text, 0, 0);
    return node;
  });
  list.append(...nodes);
  const go = i => { const node = nodes[i]; list.scrollTop += node.getBoundingClientRect().top - list.getBoundingClientRect().top - 40; };
  const chips = el('div', {class: 'chips', role: 'group', 'aria-label': 'Instructions by kind; press to pick out'}, kinds.map(([kind, title]) => {
    const count = instructions.filter(l => l.kind === kind).length;
    const button = el('button', {type: 'button', 'aria-pressed': false, onclick: () => {
      if (!on.delete(kind)) on.add(kind);
      button.setAttribute('aria-pressed', on.has(kind));
      list.classList.toggle('filtered', on.size > 0);
      for (const node of nodes) node.classList.toggle('on', on.has(node.dataset.kind));
    }}, el('span', {class: 'dot', style: `--c:var(--${kind})`}), title, el('b', {}, number(count)));
    return button;
  }));
  const strip = svg('svg', {class: 'strip', viewBox: `0 0 ${instructions.length} 10`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': 'The program from its first to its last instruction, one color a kind', onclick: event => {
      const box = strip.getBoundingClientRect(), at = Math.floor((event.clientX - box.left) / box.width * instructions.length);
      go(instructions[Math.min(Math.max(at, 0), instructions.length - 1)].i);
    }});
  for (let i = 0; i < instructions.length;) {
    let end = i;
    while (end < instructions.length && instructions[end].kind === instructions[i].kind) ++end;
    strip.append(svg('rect', {x: i, y: 0, width: end - i, height: 10, style: `fill:var(--${instructions[i].kind})`}));
    i = end;
  }
  const labels = body.filter(l => l.label);
  panel.append(el('div', {class: 'card'}, el('h2', {}, `Assembly for ${data.chip.name}`),
    el('p', {class: 'note'}, `${plural(instructions.length, 'instruction')}. The strip shows the whole program in order; a click goes there.`), strip, el('div', {style: 'height:.7rem'}), chips,
    el('div', {class: 'bar'}, select('Go to', labels.map(l => [l.i, l.text.split(':')[0]]), labels.length ? labels[0].i : '', v => go(+v))), list,
    el('details', {style: 'margin-top:.8rem'}, el('summary', {}, 'Descriptor and metadata'), el('pre', {class: 'asm', style: 'padding:.6rem', tabindex: 0}, rest.map(l => l.text).join('\n')))));
}

// ---- Layouts ----------------------------------------------------------------------
function apply(layout, at) {
  const out = layout.outputs.map(() => 0);
  for (const input of layout.inputs) {
    const value = at[input.name] || 0;
    input.bases.forEach((basis, bit) => {
      if (value >> bit & 1) basis.forEach((step, o) => { out[o] = layout.xor ? out[o] ^ step : out[o] + step; });
    });
  }
  return out;
}
const bits = (layout, name) => { const input = layout.inputs.find(i => i.name === name); return input ? input.bases.length : 0; };
const hue = (i, n) => Math.round(i * 360 / n + 12) % 360;
const color = (h, deep) => `fill:hsl(${h} var(--cell-sat) var(--cell-${deep ? 'deep' : 'light'}))`;
/// A grid of cells with a cursor: cells[row][col] = {style, text, group, say}.
function grid({rows, cols, cells, width, height, rowTitle, colTitle, label, say, moved}) {
  const left = 46, top = 34;
  const picture = svg('svg', {width: left + cols * width + 4, height: top + rows * height + 4, tabindex: 0, role: 'application', 'aria-label': label + '; arrow keys move'});
  picture.append(svg('text', {x: left, y: 11, 'font-size': 11, class: 'axis'}, colTitle + ' \u2192'), svg('text', {x: 0, y: top - 8, 'font-size': 11, class: 'axis'}, rowTitle + ' \u2193'));
  const every = size => size >= 16 ? 1 : size >= 10 ? 4 : 8;
  for (let r = 0; r < rows; r += every(height)) picture.append(svg('text', {x: left - 6, y: top + r * height + height / 2 + 3.5, 'font-size': 9.5, class: 'axis', 'text-anchor': 'end'}, cells[r][0].row ?? r));
  for (let c = 0; c < cols; c += every(width)) picture.append(svg('text', {x: left + c * width + width / 2, y: top - 5, 'font-size': 9.5, class: 'axis', 'text-anchor': 'middle'}, cells[0][c].col ?? c));
  for (let r = 0; r < rows; ++r)
    for (let c = 0; c < cols; ++c) {
      const cell = cells[r][c];
      picture.append(svg('rect', {x: left + c * width, y: top + r * height, width, height, class: 'cell', style: cell.style, 'data-r': r, 'data-c': c}));
      if (cell.text != null && width >= 14) picture.append(svg('text', {x: left + (c + .5) * width, y: top + (r + .5) * height + 3, 'font-size': Math.min(9.5, height * .75), 'text-anchor': 'middle', class: 'in'}, cell.text));
    }
  const outline = svg('g', {});
  picture.append(outline);
  const box = (r, c, cls) => svg('rect', {x: left + c * width, y: top + r * height, width, height, class: cls});
  let at = [0, 0];
  function move(r, c, quiet) {
    at = [Math.min(Math.max(r, 0), rows - 1), Math.min(Math.max(c, 0), cols - 1)];
    const here = cells[at[0]][at[1]];
    outline.replaceChildren();
    for (let y = 0; here.group != null && y < rows; ++y)
      for (let x = 0; x < cols; ++x)
        if (cells[y][x].group === here.group) outline.append(box(y, x, 'same'));
    outline.append(box(...at, 'at'));
    say(here, at[0], at[1]);
    if (moved && !quiet) moved(at[0], at[1]);
  }
  const point = event => { const d = event.target.dataset; if (d && d.r != null) move(+d.r, +d.c); };
  picture.addEventListener('pointerover', point);
  picture.addEventListener('click', point);
  picture.addEventListener('keydown', event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -cols], End: [0, cols]}[event.key];
    if (!step) return;
    event.preventDefault();
    move(at[0] + step[0], at[1] + step[1]);
  });
  // Cells that stay picked out, below the cursor.
  const hit = (r, c) => picture.insertBefore(box(r, c, 'hit'), outline);
  return {picture, move, hit};
}
const which = (state, redraw) => data.layouts.length > 1 ?
  select('Kernel', data.layouts.map((l, i) => [i, l.function || i]), state.kernel, v => { state.kernel = +v; redraw(); }) : null;

function fragments(panel) {
  const state = {kernel: 0, part: 's', by: 'register', step: 0};
  const card = el('div', {class: 'card'}), info = el('p', {class: 'info', 'aria-live': 'polite'});
  panel.append(card);
  const parts = {
    s: ['Scores S\u1d40: accumulator', 'key', 'row of Q', l => l.accumulator, 'reg'],
    o: ['Output O\u1d40: accumulator', 'column of V', 'row of Q', l => l.accumulator, 'reg'],
    k: ['K: operand A of S\u1d40 = K Q\u1d40', 'key', 'head dim', l => l.operand, 'elt'],
    q: ['Q: operand B of S\u1d40 = K Q\u1d40', 'row of Q', 'head dim', l => l.operand, 'elt'],
    v: ['V: operand A of O\u1d40 = V\u1d40 P\u1d40', 'key', 'column of V', l => l.value, 'elt'],
  };
  function draw() {
    const l = data.layouts[state.kernel], [title, rowTitle, colTitle, get, register] = parts[state.part], layout = get(l);
    const steps = register === 'reg' ? 1 : state.part === 'v' ? l.tile_kv / (2 * l.fragment) : l.steps_qk;
    state.step = Math.min(state.step, steps - 1);
    // Which register holds what: every lane and register of one step, one or several blocks.
    const registers = 1 << bits(layout, register), held = new Map();
    let rowMin = Infinity, colMin = Infinity, rowMax = 0, colMax = 0;
    // V: the blocks that one read brings together are neighbours.
    const blocks = state.part === 'v' ? Math.min(l.blocks_v, l.group_v) : 1;
    for (const lane of range(64)) for (const reg of range(registers)) for (const block of range(blocks)) {
      const [row, col] = apply(layout, {lane, [register]: reg, step: state.step, block});
      held.set(row + ',' + col, {lane, reg, block});
      rowMin = Math.min(rowMin, row); rowMax = Math.max(rowMax, row); colMin = Math.min(colMin, col); colMax = Math.max(colMax, col);
    }
    const rows = rowMax - rowMin + 1, cols = colMax - colMin + 1;
    const cells = range(rows).map(r => range(cols).map(c => {
      const h = held.get((r + rowMin) + ',' + (c + colMin));
      if (!h) return {style: 'fill:var(--track)', row: r + rowMin, col: c + colMin};
      const style = state.by === 'register' ? color(hue(h.reg, registers), h.lane >= 32) : color(hue(h.lane % 32, 32), h.lane >= 32);
      return {style, text: state.by === 'register' ? h.lane : h.reg, group: h.lane, row: r + rowMin, col: c + colMin, h};
    }));
    const name = register === 'reg' ? 'accumulator register' : 'element';
    const g = grid({rows, cols, cells, width: cols > 40 ? 18 : 24, height: 18, rowTitle, colTitle, label: title,
      say: cell => info.replaceChildren(`${rowTitle} ${cell.row}, ${colTitle} ${cell.col}: `, ...(cell.h ?
        [el('b', {}, `lane ${cell.h.lane}, ${name} ${cell.h.reg}`), blocks > 1 ? `, block ${cell.h.block}` : '', '. Outlined: everything this lane holds here.'] :
        ['in another block.']))});
    const each = l.mfma_depth / 2;
    card.replaceChildren(el('h2', {}, 'Which lane holds what'),
      el('div', {class: 'bar'}, which(state, draw) || '', select('Fragment', Object.entries(parts).map(([k, p]) => [k, p[0]]), state.part, v => { state.part = v; state.step = 0; draw(); }),
        steps > 1 ? select('Step', range(steps).map(s => [s, s]), state.step, v => { state.step = +v; draw(); }) : '',
        select('Color', [['register', 'by register, lane in the cell'], ['lane', 'by lane, register in the cell']], state.by, v => { state.by = v; draw(); })),
      el('p', {class: 'note'}, `32x32x${l.mfma_depth} MFMAs on a wave of 64 lanes; the darker half is lanes 32 to 63. ` +
        (register === 'reg' ? 'A lane owns one row of Q and half of its keys, so the softmax runs inside lanes.' :
          each < l.fragment ? `One step is ${l.fragment / each} MFMAs of ${each} elements a lane.` : 'One step is one MFMA.')),
      info, el('div', {class: 'picture'}, g.picture));
    g.move(0, 0);
  }
  draw();
}

function lds(panel) {
  const state = {kernel: 0, tile: 'k', by: 'bank', step: -1};
  const card = el('div', {class: 'card'}), info = el('p', {class: 'info', 'aria-live': 'polite'});
  const map = el('div', {class: 'card'});
  panel.append(map, card);
  function drawMap(l) {
    const buffers = [], copies = range(l.pipelined ? 2 : 1), groups = range(l.groups_kv);
    const name = (letter, copy, group) => letter + (l.pipelined ? copy : '') + (l.groups_kv > 1 ? ' of group ' + group : '');
    for (const [letter, tile, h] of [['K', l.k, 214], ['V', l.v, 30]])
      for (const copy of copies) for (const group of groups) buffers.push([name(letter, copy, group), tile.bytes, h]);
    const rest = l.lds_bytes - buffers.reduce((sum, b) => sum + b[1], 0);
    if (rest > 0) buffers.push(['exchange and gaps', rest, 120]);
    const total = l.chip_lds_bytes, width = 1000;
    const picture = svg('svg', {viewBox: `0 0 ${width} 46`, width: '100%', height: 60, preserveAspectRatio: 'none', role: 'img', 'aria-label': `LDS of a workgroup: ${buffers.map(b => b[0] + ' ' + number(b[1]) + ' bytes').join(', ')}`});
    let at = 0;
    picture.append(svg('rect', {x: 0, y: 0, width, height: 46, rx: 6, style: 'fill:var(--track)'}));
    buffers.forEach(([, bytes, h], i) => { const w = bytes / total * width; picture.append(svg('rect', {x: at, y: 0, width: w, height: 46, class: 'cell', style: color(h, i % 2)})); at += w; });
    const padding = (l.k.bytes + l.v.bytes - (l.k.columns + l.v.columns) * l.tile_kv * l.element_bytes) * copies.length * groups.length;
    map.replaceChildren(el('h2', {}, 'LDS of a workgroup'), picture,
      el('div', {class: 'legend'}, buffers.map(([n, bytes, h], i) => el('span', {}, svg('svg', {width: 12, height: 12}, svg('rect', {width: 12, height: 12, rx: 3, style: color(h, i % 2)})), `${n}: ${number(bytes)} bytes`)),
        el('span', {}, el('span', {class: 'dot', style: '--c:var(--track)'}), `free: ${number(total - l.lds_bytes)} of ${number(total)} bytes`)),
      el('p', {class: 'note'}, `${l.pipelined ? 'Double buffered: while one tile is multiplied the next arrives by DMA. ' : ''}` +
        (padding > 0 ? `${number(padding)} bytes are padding that moves rows to other banks.` : 'No padding: chunks are swizzled by the row instead.')));
  }
  function draw() {
    const l = data.layouts[state.kernel], isV = state.tile === 'v', tile = l[state.tile], bytes = l.element_bytes, chunk = 16 / bytes;
    drawMap(l);
    // Banks in groups of 16 bytes.
    const slots = l.lds_banks / 4, cols = tile.columns / chunk, where = (row, col) => apply(tile.layout, {row, col})[0] * bytes;
    const writer = new Map();
    for (const wave of range(l.tile_waves)) for (const instr of range(tile.instructions)) for (const lane of range(64)) {
      const [row, col] = apply(tile.staging, {lane, wave, instr});
      // By LDS offset: a DMA writes its lanes one behind the other.
      const id = Math.floor(where(row, col) / 16);
      if (!writer.has(id)) writer.set(id, {wave, instr, first: lane, last: lane});
      const w = writer.get(id); w.first = Math.min(w.first, lane); w.last = Math.max(w.last, lane);
    }
    const chunks = new Map();
    for (const row of range(tile.rows)) for (const c of range(cols)) chunks.set(where(row, c * chunk) / 16, [row, c]);
    // What one read of K touches.
    const hits = new Set();
    if (!isV && state.step >= 0) {
      for (const lane of range(64)) {
        const [row, col] = apply(l.operand, {lane, elt: 0, step: state.step, block: 0});
        hits.add(Math.floor(where(row, col) / 16));
      }
    }
    const style = (offset, row, w) => state.by === 'bank' ? color(hue(offset / 16 % slots, slots)) : state.by === 'wave' ? color(hue(w ? w.wave : 0, 8), w && w.instr % 2) : color(hue(row % 16, 16), row >= 16 && (row >> 4) % 2);
    const text = (offset, row, w) => state.by === 'bank' ? offset / 4 % l.lds_banks : state.by === 'wave' ? (w ? w.wave : '') : row;
    const describe = (row, c, offset) => { const w = writer.get(offset / 16);
      return [el('b', {}, `key ${row}, columns ${c * chunk} to ${c * chunk + chunk - 1}`), `: byte ${number(offset)} of the tile, banks ${offset / 4 % l.lds_banks} to ${offset / 4 % l.lds_banks + 3}`,
        w ? `; written by wave ${w.wave}, DMA ${w.instr}, lane${w.first === w.last ? ' ' + w.first : `s ${w.first} to ${w.last}`}` : '', hits.has(offset / 16) ? '; read in this step' : '', '.']; };
    const logical = range(tile.rows).map(row => range(cols).map(c => { const offset = where(row, c * chunk), w = writer.get(offset / 16);
      return {style: style(offset, row, w), text: text(offset, row, w), row, col: c * chunk, offset}; }));
    const lines = Math.ceil(tile.bytes / (l.lds_banks * 4));
    const physical = range(lines).map(line => range(slots).map(slot => { const offset = (line * slots + slot) * 16, found = chunks.get(offset / 16);
      if (!found) return {style: 'fill:var(--track)', row: line, col: slot * 4, offset};
      return {style: style(offset, found[0], writer.get(offset / 16)), text: found[0], row: line, col: slot * 4, offset, found}; }));
    let a, b;
    a = grid({rows: tile.rows, cols, cells: logical, width: 26, height: 13, rowTitle: 'key', colTitle: 'column', label: 'The tile as the program sees it',
      say: (cell, r, c) => info.replaceChildren(...describe(r, c, cell.offset)),
      moved: (r, c) => { const offset = logical[r][c].offset / 16; b.move(Math.floor(offset / slots), offset % slots, true); info.replaceChildren(...describe(r, c, logical[r][c].offset)); }});
    b = grid({rows: lines, cols: slots, cells: physical, width: 26, height: 13, rowTitle: 'line', colTitle: 'bank', label: 'The tile as LDS sees it',
      say: cell => info.replaceChildren(...(cell.found ? describe(cell.found[0], cell.found[1], cell.offset) : [`byte ${number(cell.offset)} of the tile: padding.`])),
      moved: (r, c) => { const found = physical[r][c].found; if (found) a.move(found[0], found[1], true); }});
    for (const [g, cells] of [[a, logical], [b, physical]]) cells.forEach((row, y) => row.forEach((cell, x) => { if (hits.has(cell.offset / 16)) g.hit(y, x); }));
    card.replaceChildren(el('h2', {}, `One tile of ${isV ? 'V' : 'K'}`),
      el('div', {class: 'bar'}, which(state, draw) || '', select('Tile', [['k', 'K'], ['v', 'V']], state.tile, v => { state.tile = v; draw(); }),
        select('Color', [['bank', 'by bank'], ['wave', 'by the wave that stages it'], ['key', 'by key']], state.by, v => { state.by = v; draw(); }),
        isV ? '' : select('Outline what a read takes', [[-1, 'nothing']].concat(range(l.steps_qk).map(s => [s, `step ${s}, keys 0 to 31`])), state.step, v => { state.step = +v; draw(); })),
      el('p', {class: 'note'}, `A cell is 16 bytes: ${chunk} elements, four of the ${l.lds_banks} banks. The first picture has a key's columns where the program looks for them, the second the same cells in LDS order: one line across all banks, keys in the cells, padding grey. Reads go down the columns of the first, so neighbours there should differ in bank.`),
      info, el('div', {class: 'cards'}, el('div', {class: 'picture'}, el('h3', {}, 'As the program sees it'), a.picture), el('div', {class: 'picture'}, el('h3', {}, 'As LDS sees it'), b.picture)));
    a.move(0, 0);
  }
  draw();
}

// ---- Timeline ------------------------------------------------------------------------
const activities = [['issue', 'accent'], ['own pipe', 'valu'], ['issue conflict', 'salu'], ['dependency', 'trans'], ['LDS', 'lds'],
  ['VMEM wait', 'vmem'], ['scalar load', 'mfma'], ['barrier', 'wait'], ['nop', 'dim'], ['branch', 'op'], ['sleep', 'line']];
function waveTime(t) {
  const waves = t.waves.filter(w => w.steady), width = 900, left = 70;
  if (!waves.length) return null;
  const most = Math.max(...waves.map(w => activities.reduce((sum, [name]) => sum + (w.steady[name] || 0), 0)));
  const seen = activities.filter(([name]) => waves.some(w => w.steady[name] > 0.5));
  const picture = svg('svg', {viewBox: `0 0 ${width} ${waves.length * 22}`, width: '100%', style: 'min-width:560px', role: 'img', 'aria-label': 'Clocks of each wave in a steady iteration by what it did'});
  waves.forEach((wave, y) => {
    let x = left;
    picture.append(svg('text', {x: 0, y: y * 22 + 14, 'font-size': 11, class: 'axis'}, `wave ${y}`));
    for (const [name, tint] of seen) {
      const w = (wave.steady[name] || 0) / most * (width - left);
      picture.append(svg('rect', {x, y: y * 22 + 2, width: w, height: 17, style: `fill:var(--${tint})`}, svg('title', {}, `${name}: ${number(wave.steady[name] || 0)} clk`)));
      x += w;
    }
  });
  return [el('div', {class: 'picture'}, picture), el('div', {class: 'legend'}, seen.map(([name, tint]) => el('span', {}, el('span', {class: 'dot', style: `--c:var(--${tint})`}), name)))];
}
function timeline(panel) {
  if (data.timeline) {
    const picture = new DOMParser().parseFromString(data.timeline, 'image/svg+xml').documentElement;
    panel.append(el('div', {class: 'card'}, el('h2', {}, 'The steady loop, clock by clock'),
      el('p', {class: 'note'}, 'Waves of one SIMD in the timing model: what each issues and what it waits for.'),
      el('div', {class: 'timeline', tabindex: 0, role: 'region', 'aria-label': 'Timeline'}, document.importNode(picture, true))));
  }
  for (const t of data.timing) {
    const time = waveTime(t);
    if (time) panel.append(el('div', {class: 'card'}, el('h2', {}, 'Where the clocks of a wave go ', el('code', {}, t.kernel)),
      el('p', {class: 'note'}, 'One steady iteration, mean of all.'), ...time));
    panel.append(el('div', {class: 'card'}, el('h2', {}, 'How sure is that? ', el('code', {}, t.kernel)),
      el('p', {class: 'note'}, 'The same launch with constants of the model changed that nobody has measured exactly.'),
      table(['change', 'iteration, clk', 'MFMA busy', 'workgroup, clk'], t.sensitivities.map(row =>
        [row.name, row.iteration_clocks, el('td', {class: 'n'}, percent(row.mfma_efficiency)), row.clocks]))));
  }
}

// ---- Put together -----------------------------------------------------------------------
const title = String(data.title).split('/').pop() || 'module';
document.title = `${title} for ${data.chip.name} - AttnMLIR report`;
document.getElementById('title').textContent = title;
document.getElementById('facts').append(el('b', {}, data.chip.name), `, ${data.chip.compute_units} compute units; -O${data.opt_level}; AttnMLIR ${data.version}`);
addTab('overview', 'Overview', overview);
addTab('levels', 'Levels', levels);
addTab('assembly', 'Assembly', assembly);
if (data.layouts.length) {
  addTab('lds', 'LDS', lds);
  addTab('fragments', 'MFMA fragments', fragments);
}
if (data.timing && data.timing.length) addTab('timeline', 'Timeline', timeline);
show(location.hash.slice(1));
window.addEventListener('hashchange', () => show(location.hash.slice(1)));
})();
