/*
 * charts.js - charts in which every cell of a question has a row: speed with its interval, every sample, cost. They stand side
 * by side and share their rows where the page is wide, and one below the other, each with its names, where it is not.
 */
const LETTER_WIDTH = 6.95, ROW = 24, ROW_NAMED = 38, TOP = 4, BOTTOM = 34;
const STYLE = { fontFamily: 'var(--sans)', fontSize: '12px', background: 'none', color: 'var(--ink)', overflow: 'visible' };
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a8f00', '#7f7f7f'];
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'times', 'star', 'plus', 'hexagon'];
const VERDICTS = {
  baseline: { symbol: 'plus', colour: 'var(--ink)' }, faster: { symbol: 'triangle', colour: 'var(--faster)' },
  slower: { symbol: 'diamond', colour: 'var(--slower)' }, same: { symbol: 'square', colour: 'var(--same)' },
  unclear: { symbol: 'circle', colour: 'var(--same)', hollow: true },
};

/* A chart with title and words for those who do not see it. */
const figure = (title, small, svg, label) => {
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label || title);
  const caption = element('figcaption', {}, title);
  if (small) caption.append(' ', element('small', {}, small));
  const made = element('figure', {}, caption, svg);
  made.style.width = svg.getAttribute('width') + 'px';
  return made;
};

/* Those marks of a logarithmic axis of `room` pixels that lie `gap` apart; 1 before others, for all is measured by it. */
const spread = (ticks, low, high, room, gap) => {
  const at = (tick) => (Math.log(tick / low) / Math.log(high / low)) * room, kept = [];
  for (const tick of [...ticks.filter((one) => one === 1), ...ticks]) {
    if (kept.every((other) => Math.abs(at(tick) - at(other)) >= gap)) kept.push(tick);
  }
  return kept.sort((a, b) => a - b);
};
/* Even steps in a small range, 1, 2 and 5 or powers of ten in a large one. */
const logTicks = (low, high, room, gap = 54) => {
  if (high / low < 4) return spread(d3.ticks(low, high, Math.min(room / gap, 8)).filter((tick) => tick > 0), low, high, room, gap);
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of [1, 2, 5]) ticks.push(+`${step}e${power}`);
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const decades = inside.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);
  return spread(inside.length <= room / gap || decades.length < 2 ? inside : decades, low, high, room, gap);
};
/* The same for rates, whose units are powers of 1024. */
const rateTicks = (low, high, room) => {
  const units = [1, 2 ** 10, 2 ** 20, 2 ** 30, 2 ** 40], unit = units.findLast((factor) => high >= factor) || 1;
  if (high / low < 4) return logTicks(low / unit, high / unit, room, 30).map((tick) => tick * unit);
  const steps = high / low < 60 ? [1, 2, 5, 10, 20, 50, 100, 200, 500] : [1, 10, 100];
  return spread(units.flatMap((factor) => steps.map((step) => step * factor)).filter((tick) => tick >= low && tick <= high), low, high, room, 22);
};
/* An axis with just these marks: the scale's own way with text leaves some out. */
const axis = (make, ticks, text) => make(ticks, { text, tickSize: 3, label: null });
/* Two charts side by side where there is room; `half` is the width of one. */
const pairOf = (width) => {
  const two = width >= 960, pair = element('div', { className: 'pair' });
  pair.style.gridTemplateColumns = two ? 'repeat(2, minmax(0, 1fr))' : 'minmax(0, 1fr)';
  return { pair, half: two ? Math.floor((width - 32) / 2) : width };
};

/* The frame that all charts with rows share. */
const rowsPlot = (rows, panel, x, marks) => {
  const best = rows.filter((row) => row.cell.best), named = panel.names;
  const row = panel.above ? ROW_NAMED : ROW, shift = panel.above ? 7 : 0;
  const names = !named ? [] : panel.above
    ? [Plot.text(rows.filter((r) => r.first), { y: 'y', text: 'name', frameAnchor: 'left', textAnchor: 'start', dx: 2, dy: -row / 2 + 9,
        fontFamily: 'var(--mono)', fontSize: 11 })]
    : [Plot.text(rows.filter((r) => r.first), { y: 'y', text: (r) => (r.cell.best ? '★ ' : '') + r.name, frameAnchor: 'left',
        textAnchor: 'end', dx: several ? -26 : -10, fontFamily: 'var(--mono)', fontSize: 11.5, fontWeight: 400 })];
  const letters = several && named ? [Plot.text(rows, { y: 'y', text: (r) => letterOf(r.r), frameAnchor: 'left', textAnchor: 'end',
    dx: -8, dy: shift, fontWeight: 700, fill: 'var(--accent)', fontSize: 11 })] : [];
  return Plot.plot({
    width: panel.width, height: TOP + BOTTOM + rows.length * row, marginTop: TOP, marginBottom: BOTTOM, marginLeft: panel.left,
    marginRight: panel.right, style: STYLE, x, y: { domain: [Math.max(rows.length, 1) - 0.5, -0.5], axis: null },
    marks: [
      Plot.rect(best, { y1: (r) => r.y - 0.5, y2: (r) => r.y + 0.5, x1: () => x.domain[0], x2: () => x.domain[1], fill: 'var(--best)' }),
      ...marks(shift), ...names, ...letters,
    ],
  });
};

/* What part of a row its marks may take: less where its name stands above. */
const bandOf = (panel) => (panel.above ? [0, 0.38] : [-0.32, 0.32]);

const extent = (values, pad) => {
  const low = Math.min(...values), high = Math.max(...values);
  return [low / pad, high * pad];
};

/* ---- speed ---- */

const tipOf = (row) => [
  (several ? letterOf(row.r) + '  ' : '') + row.name,
  row.ratio ? `${asRatio(row.ratio.median)}  ${row.ratio.low == null ? '' : `[${asInterval(row.ratio)}]`}  ${wordOf(row.run, row.verdict)}` : '',
  `${asTime(row.cell.elapsed_ns.median)} a pass${row.cell.bytes_per_s ? '  ' + asRate(row.cell.bytes_per_s) : ''}`,
  `${row.cell.n} samples${row.cell.rank ? ', rank ' + asRank(row.cell) : ''}${row.cell.label ? ', ' + row.cell.label : ''}`,
].filter(Boolean).join('\n');

const speedDomain = (rows) => {
  const margin = Math.max(...rows.map((row) => row.group.margin));
  const ends = rows.filter((row) => row.ratio).flatMap((row) => [row.ratio.median, row.ratio.low || row.ratio.median, row.ratio.high || row.ratio.median]);
  return extent([...ends, 1 + margin, 1 / (1 + margin)], 1.06);
};

const speedDots = (rows, shift) => Object.entries(VERDICTS).map(([verdict, look]) => Plot.dot(
  rows.filter((row) => row.ratio && row.verdict === verdict),
  { x: (row) => row.ratio.median, y: 'y', dy: shift, r: 4.6, symbol: look.symbol, stroke: look.colour, strokeWidth: 1.8,
    fill: look.hollow ? 'var(--panel)' : look.colour }));

const speedChart = (rows, panel) => {
  const domain = speedDomain(rows), margin = Math.max(...rows.map((row) => row.group.margin));
  const known = rows.filter((row) => row.ratio && row.ratio.low != null && row.verdict !== 'baseline');
  const word = countsUse(runs[0]) ? 'use by that of the baseline' : 'against the baseline';
  const svg = rowsPlot(rows, { ...panel, right: panel.right }, { type: 'log', domain, label: null, axis: null }, (shift) => [
    Plot.rectX([0], { x1: 1 / (1 + margin), x2: 1 + margin, fill: 'var(--band)' }),
    axis(Plot.axisX, logTicks(...domain, panel.width - panel.left - panel.right), (tick) => +tick.toPrecision(3) + '×'),
    Plot.ruleX([1], { stroke: 'var(--muted)', strokeWidth: 1 }),
    Plot.ruleY(known, { x1: (row) => row.ratio.low, x2: (row) => row.ratio.high, y: 'y', dy: shift, strokeWidth: 2.2, strokeLinecap: 'round',
      stroke: (row) => VERDICTS[row.verdict].colour }),
    ...speedDots(rows, shift),
    Plot.text(rows.filter((row) => row.ratio), { y: 'y', dy: shift, frameAnchor: 'right', textAnchor: 'end', dx: panel.right - 44,
      text: (row) => asRatio(row.ratio.median), fontWeight: (row) => (row.cell.best ? 600 : 400) }),
    Plot.text(rows, { y: 'y', dy: shift, frameAnchor: 'right', textAnchor: 'end', dx: panel.right - 2, fill: 'var(--muted)', text: (row) => asRank(row.cell) }),
    Plot.tip(rows.filter((row) => row.ratio), Plot.pointerY({ x: (row) => row.ratio.median, y: 'y', title: tipOf, maxRadius: Infinity,
      fontFamily: 'var(--mono)', fontSize: 11, lineWidth: 60, fill: 'var(--panel)' })),
  ]);
  svg.classList.add('clickable');
  const made = figure('Speed', `${word}, 95 % interval; grey: margin of ${(margin * 100).toFixed(1)} %; right: ratio, rank`, svg,
    'Speed of each method against the baseline, with interval: ' + rows.map((row) =>
      `${row.name} ${row.ratio ? asRatio(row.ratio.median) : ''} ${row.verdict}`).join('; '));
  made.append(verdictLegend(rows));
  return { made, svg };
};

const verdictLegend = (rows) => {
  const legend = element('div', { className: 'legend', ariaHidden: 'true' });
  for (const [verdict, look] of Object.entries(VERDICTS)) {
    if (!rows.some((row) => row.verdict === verdict)) continue;
    const mark = Plot.plot({ width: 14, height: 14, margin: 0, axis: null, style: { ...STYLE, display: 'inline' }, marks: [Plot.dot([[0, 0]],
      { frameAnchor: 'middle', r: 4.4, symbol: look.symbol, stroke: look.colour, strokeWidth: 1.8, fill: look.hollow ? 'var(--panel)' : look.colour })] });
    legend.append(element('span', {}, mark, wordOf(runs[0], verdict).replace('(base)', 'baseline')));
  }
  return legend;
};

/* ---- every sample ---- */

/* The samples of a row; `aligned` takes out what a round did to all methods alike. */
const samplesOf = (row, aligned) => {
  const samples = row.group.samples, points = [];
  const factor = aligned ? roundFactors(row.group) : null;
  samples.cell.forEach((cell, i) => {
    if (cell !== row.index) return;
    const round = samples.round[i];
    points.push({ row, round, ns: samples.ns[i] / (factor ? factor.get(round) || 1 : 1), flags: oddOf(samples, i) });
  });
  return points;
};

const middle = (values) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

/* How slow a round was: the median over its methods of each one's time by its own median. */
const roundFactors = (group) => {
  const samples = group.samples, of = new Map();
  samples.cell.forEach((cell, i) => {
    const own = cell >= 0 && group.cells[cell].elapsed_ns ? group.cells[cell].elapsed_ns.median : 0;
    if (!own || group.cells[cell].floor) return;
    const round = samples.round[i];
    of.set(round, [...(of.get(round) || []), samples.ns[i] / own]);
  });
  return new Map([...of].map(([round, values]) => [round, middle(values)]));
};

const sampleChart = (rows, panel, aligned) => {
  const points = rows.flatMap((row) => samplesOf(row, aligned));
  if (!points.length) return null;
  const domain = extent(points.map((point) => point.ns), 1.03);
  const lastRound = Math.max(...points.map((point) => point.round), 2);
  const [top, bottom] = bandOf(panel), at = (point) => point.row.y + bottom - ((bottom - top) * (point.round - 1)) / (lastRound - 1);
  const svg = rowsPlot(rows, panel, { type: 'log', domain, label: null, axis: null }, () => [
    axis(Plot.axisX, logTicks(...domain, panel.width - panel.left - panel.right), (tick) => asShort(asTime(tick))),
    Plot.dot(points, { x: 'ns', y: at, r: 1.9, fill: (point) => (point.flags ? 'none' : several ? COLOURS[point.row.r] : 'var(--ink)'),
      fillOpacity: 0.5, stroke: (point) => (point.flags ? 'var(--slower)' : 'none'), strokeWidth: 1 }),
    Plot.ruleX(rows, { x: (row) => row.cell.elapsed_ns.median, y1: (row) => row.y + top, y2: (row) => row.y + bottom,
      stroke: 'var(--star)', strokeWidth: 2 }),
    Plot.tip(points, Plot.pointer({ x: 'ns', y: at, fontSize: 11, fontFamily: 'var(--mono)', fill: 'var(--panel)', lineWidth: 60,
      title: (point) => `${point.row.name}\nround ${point.round}: ${asTime(point.ns)}${aligned ? ', aligned' : ''}` })),
  ]);
  return figure('Every sample', `time of a pass${aligned ? ', what a round did to all taken out' : ', first round lowest'}`, svg,
    'Time of every sample of each method');
};

/* ---- cost ---- */

const perGib = (row, value) => {
  const bytes = row.cell.bytes_per_s ? (row.cell.bytes_per_s * row.cell.elapsed_ns.median) / 1e9 : 0;
  return value == null || !bytes ? null : (value / bytes) * 2 ** 30;
};
const faultsOf = (cost) => (cost.minor_faults == null || cost.major_faults == null ? null : cost.minor_faults + cost.major_faults);
const COSTS = [
  { title: 'CPU', small: 'per GiB', of: (row) => perGib(row, row.cell.cost.cpu_ns), text: asTime },
  { title: 'CPU', small: 'per pass', of: (row) => (row.cell.bytes_per_s ? null : row.cell.cost.cpu_ns), text: asTime },
  { title: 'Calls', small: 'per GiB', of: (row) => perGib(row, row.cell.cost.system_calls), text: asCount },
  { title: 'Faults', small: 'per GiB', of: (row) => perGib(row, faultsOf(row.cell.cost)), text: asCount },
  { title: 'Memory', small: 'at most', of: (row) => row.cell.cost.peak_bytes, text: asBytes },
  { title: 'Evicted', small: 'of others\' cache', of: (row) => row.cell.cost.evicted_share, text: (share) => (share * 100).toFixed(share < 0.1 ? 1 : 0) + ' %' },
];

const costChart = (rows, panel, cost) => {
  const values = rows.map((row) => ({ row, y: row.y, value: row.cell.cost ? cost.of(row) : null })).filter((one) => one.value != null);
  const most = Math.max(...values.map((one) => one.value), 0);
  if (!values.length || !(most > 0)) return null;
  const [top, bottom] = bandOf(panel);
  const svg = rowsPlot(rows, panel, { domain: [0, most], label: null, axis: null }, (shift) => [
    Plot.rect(values, { x1: 0, x2: 'value', y1: (one) => one.y + top, y2: (one) => one.y + bottom, fill: 'var(--grey)' }),
    Plot.ruleX([0], { stroke: 'var(--muted)' }),
    Plot.text(values, { x: 'value', y: 'y', dy: shift, dx: 4, textAnchor: 'start', fontSize: 11, text: (one) => cost.text(one.value) }),
  ]);
  return figure(cost.title, cost.small, svg, `${cost.title} ${cost.small}: ` + values.map((one) => `${one.row.name} ${cost.text(one.value)}`).join('; '));
};

/* ---- side by side ---- */

/* Left margin for the names, or the sign that they stand above their rows. */
const nameRoom = (rows, width) => {
  const longest = Math.max(...rows.map((row) => row.name.length + (row.cell.best ? 2 : 0)), 4);
  const room = longest * LETTER_WIDTH + (several ? 32 : 16);
  return room < width * 0.45 ? { left: room, above: false } : { left: several ? 22 : 4, above: true };
};

/*
 * Wide: all in one row, the names once. Else one below the other, each with its names; the costs share a row. Narrow: of the costs
 * the first; the table has all.
 */
const layoutOf = (rows, width) => {
  const costs = COSTS.filter((cost) => rows.some((row) => row.cell.cost && cost.of(row) > 0)), gap = 18;
  if (width < 1000) {
    const shown = costs.slice(0, width < 600 ? 1 : 3), own = { names: true, ...nameRoom(rows, width) };
    const narrow = own.above || shown.length < 2 ? width : Math.floor((width - own.left - gap * (shown.length - 1)) / shown.length);
    return { gap, speed: { ...own, width }, samples: { ...own, width }, shown, cost: (i) => (own.above || shown.length < 2 ? { ...own, width }
      : i === 0 ? { ...own, width: narrow + own.left } : { names: false, above: false, left: 4, width: narrow }) };
  }
  const shown = costs.slice(0, 4), each = Math.max(104, Math.min(136, width * 0.085)), rest = width - shown.length * (each + gap) - gap;
  const samples = Math.round(rest * 0.4), own = { names: true, ...nameRoom(rows, rest - samples) }, bare = { names: false, above: own.above, left: 8 };
  return { gap, speed: { ...own, width: rest - samples }, samples: { ...bare, width: samples }, shown, cost: () => ({ ...bare, width: each }) };
};

const rowCharts = (section, holder, aligned, onBaseline) => {
  const rows = rowsOf(section);
  if (!rows.length) return;
  const layout = layoutOf(rows, widthOf(holder)), panels = element('div', { className: 'panels' });
  const speed = speedChart(rows, { ...layout.speed, right: 96 });
  speed.svg.addEventListener('click', () => { if (speed.svg.value) onBaseline(speed.svg.value.id); });
  panels.style.columnGap = layout.gap + 'px';
  panels.append(speed.made, ...[sampleChart(rows, { ...layout.samples, right: 10 }, aligned),
    ...layout.shown.map((cost, i) => costChart(rows, { ...layout.cost(i), right: 58 }, cost))].filter(Boolean));
  holder.append(panels);
};
