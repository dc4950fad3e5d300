/* lanes.js - charts over time and of single operations: rounds with what disturbed them, and latency. */

/* Parts of the wall time of a round's samples, and bytes of others on the device. */
const LANES = [
  { key: 'steal_ns', title: 'steal', share: true }, { key: 'cpu_stall_ns', title: 'CPU pressure', share: true },
  { key: 'io_stall_ns', title: 'I/O pressure', share: true }, { key: 'memory_stall_ns', title: 'memory pressure', share: true },
  { key: 'foreign_bytes', title: "others' I/O", share: false },
];

/* What the run watched round by round, where it did: also what happened between the samples. */
const watchedOf = (run, group) => (run.time_line || []).filter((one) => one.group === group.id && one.round >= 1);

const laneOf = (run, group, lane) => {
  const watched = watchedOf(run, group), samples = group.samples, sums = new Map();
  if (watched.length && lane.share) {
    const processors = lane.key === 'steal_ns' ? run.environment.cpus || 1 : 1;
    return watched.map((one) => ({ round: one.round, value: (one[lane.key] || 0) / Math.max(one.elapsed_ns * processors, 1) }));
  }
  if (!samples[lane.key]) return [];
  samples.round.forEach((round, i) => {
    const sum = sums.get(round) || { value: 0, wall: 0 };
    sum.value += Math.max(samples[lane.key][i], 0);
    sum.wall += samples.wall_ns[i];
    sums.set(round, sum);
  });
  return [...sums].map(([round, sum]) => ({ round, value: lane.share ? sum.value / Math.max(sum.wall, 1) : sum.value })).sort((a, b) => a.round - b.round);
};

/* The control that stands first and last in each round, by its median; and the rounds that were not like the others. */
const controlOf = (watched) => {
  const known = watched.flatMap((one) => one.control_ns.filter((ns) => ns > 0).map((ns, i) => ({ round: one.round - 0.3 + 0.6 * i, ns })));
  const own = known.length ? middle(known.map((one) => one.ns)) : 0;
  return known.map((one) => ({ ...one, value: one.ns / own }));
};

const laneText = (lane, value) => (lane.share ? (value * 100).toFixed(value < 0.0995 ? 1 : 0) + ' %' : asBytes(value));

const laneChart = (points, lane, width, rounds) => {
  const most = Math.max(...points.map((point) => point.value), 0);
  if (!(most > 0)) return null;
  return Plot.plot({
    width, height: 30, marginLeft: 104, marginRight: 78, marginTop: 3, marginBottom: 3, style: STYLE, x: { domain: rounds, axis: null },
    y: { domain: [0, most], axis: null }, ariaLabel: `${lane.title} by round, at most ${laneText(lane, most)}`,
    marks: [
      Plot.rectY(points, { x1: (point) => point.round - 0.42, x2: (point) => point.round + 0.42, y: 'value', fill: 'var(--grey)' }),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.text([lane.title], { frameAnchor: 'left', textAnchor: 'end', dx: -8, fill: 'var(--muted)', fontSize: 11 }),
      Plot.text([laneText(lane, most)], { frameAnchor: 'right', textAnchor: 'start', dx: 6, fill: 'var(--muted)', fontSize: 11 }),
    ],
  });
};

/* Each method by its own median, so that a round that was slow for all is seen as one. */
const roundPoints = (group, base) => {
  const samples = group.samples, points = [];
  samples.cell.forEach((index, i) => {
    const cell = index >= 0 ? group.cells[index] : base >= 0 ? group.cells[base] : null;
    if (!cell || !cell.elapsed_ns || cell.floor) return;
    points.push({ id: index >= 0 ? cell.id : cell.id + ' (second entry)', index, round: samples.round[i], value: samples.ns[i] / cell.elapsed_ns.median,
      position: samples.position[i], flags: oddOf(samples, i) });
  });
  return points.sort((a, b) => a.round - b.round);
};

const timeline = (run, r, group, base, width) => {
  const points = roundPoints(group, base);
  if (points.length < 2 || group.rounds < 2) return null;
  const rounds = [Math.min(...points.map((p) => p.round)) - 0.5, Math.max(...points.map((p) => p.round)) + 0.5];
  const factors = [...roundFactors(group)].map(([round, value]) => ({ round, value })).sort((a, b) => a.round - b.round);
  const watched = watchedOf(run, group), noisy = watched.filter((one) => one.noisy.length), control = controlOf(watched);
  const domain = extent([...points, ...control].map((p) => p.value), 1.02);
  const order = (p) => points.filter((q) => q.round === p.round).sort((a, b) => a.position - b.position).map((q) => q.id);
  const svg = Plot.plot({
    width, height: 170, marginLeft: 104, marginRight: 78, marginTop: 6, marginBottom: 30, style: STYLE,
    x: { domain: rounds, label: 'round', axis: null }, y: { type: 'log', domain, axis: null },
    marks: [
      axis(Plot.axisX, d3.ticks(...rounds, Math.min(10, (width - 182) / 32)).filter(Number.isInteger), String),
      axis(Plot.axisY, logTicks(...domain, 134, 24), (tick) => +tick.toPrecision(3) + '×'),
      Plot.rectX(noisy, { x1: (one) => one.round - 0.5, x2: (one) => one.round + 0.5, fill: 'var(--band)' }),
      Plot.ruleY([1], { stroke: 'var(--line)' }),
      Plot.line(points, { x: 'round', y: 'value', z: 'id', stroke: 'var(--grey)', strokeWidth: 1, strokeOpacity: 0.75 }),
      Plot.line(factors, { x: 'round', y: 'value', stroke: 'var(--accent)', strokeWidth: 2.2 }),
      Plot.line(control, { x: 'round', y: 'value', stroke: COLOURS[2], strokeWidth: 1.6, strokeDasharray: '4 3' }),
      Plot.dot(points.filter((p) => p.flags), { x: 'round', y: 'value', stroke: 'var(--slower)', r: 3 }),
      Plot.tip(points, Plot.pointer({ x: 'round', y: 'value', fill: 'var(--panel)', fontSize: 11, fontFamily: 'var(--mono)', lineWidth: 60,
        title: (p) => `${p.id}\nround ${p.round}: ${asRatio(p.value)} of its median\norder: ${order(p).slice(0, 6).join(', ')}${order(p).length > 6 ? ' …' : ''}` })),
    ],
  });
  const made = figure('Rounds', `grey: time of each method by its own median; blue: of all${control.length ? '; dashed: the control' : ''}`, svg,
    'Time of each method by its own median, round after round');
  const quiet = [], told = noisy.map((one) => `${one.round} (${one.noisy.join(', ')})`);
  for (const lane of LANES) {
    const chart = laneChart(laneOf(run, group, lane), lane, width, rounds);
    if (chart) made.append(chart);
    else quiet.push(lane.title);
  }
  if (told.length) made.append(element('p', { className: 'note' }, `Not like the others (shaded), kept all the same: round ${told.join(', ')}.`));
  if (quiet.length) made.append(element('p', { className: 'note' }, `None seen, or not told by the system: ${quiet.join(', ')}.`));
  if (several) made.querySelector('figcaption').prepend(element('span', { className: 'letter' }, letterOf(r)), ' ');
  return made;
};

/* ---- latency ---- */

/* Percentiles of a cell as points; what the samples were too few for is not there. */
const percentilesOf = (cell) => Object.entries((cell.latency_ns && cell.latency_ns.percentiles) || {}).filter(([, value]) => value && value.median > 0)
  .map(([name, value]) => ({ name, share: parseFloat(name.slice(1)), ...value })).sort((a, b) => a.share - b.share);

/* Operations by powers of two, where that is all there is. */
const shareOf = (cell) => {
  const counts = Object.entries((cell.latency_ns && cell.latency_ns.operations_by_log2) || {}).map(([slot, count]) => [+slot, count]);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return counts.sort((a, b) => a[0] - b[0]).map(([slot, count]) => ({ ns: 2 ** slot, share: count / all }));
};

const latencyChart = (rows, r, width) => {
  const shown = rows.filter((row) => row.r === r && row.cell.latency_ns).slice(0, COLOURS.length);
  const points = shown.flatMap((row, i) => percentilesOf(row.cell).map((p) => ({ ...p, row, i })));
  const bars = points.length ? [] : shown.flatMap((row, i) => shareOf(row.cell).map((p) => ({ ...p, row, i })));
  if (!points.length && !bars.length) return null;
  const colour = { domain: shown.map((row) => row.name), range: COLOURS };
  const shared = { width, height: 230, marginLeft: 62, marginRight: 12, marginBottom: 30, style: STYLE, color: colour, symbol: { domain: colour.domain, range: SYMBOLS } };
  const named = (p) => p.row.name, latencies = extent(points.flatMap((p) => [p.median, p.low || p.median, p.high || p.median]), 1.1);
  const svg = points.length
    ? Plot.plot({ ...shared, x: { type: 'point', domain: [...new Set(points.map((p) => p.name))].sort((a, b) => parseFloat(a.slice(1)) - parseFloat(b.slice(1))), label: null },
        y: { type: 'log', axis: null, domain: latencies }, marks: [
          Plot.gridY(logTicks(...latencies, 180, 26), { stroke: 'var(--line)', strokeOpacity: 1 }), axis(Plot.axisY, logTicks(...latencies, 180, 26), (tick) => asShort(asTime(tick))),
          Plot.link(points.filter((p) => p.low != null), { x: 'name', y1: 'low', y2: 'high', stroke: named, strokeWidth: 2 }),
          Plot.line(points, { x: 'name', y: 'median', z: named, stroke: named }),
          Plot.dot(points, { x: 'name', y: 'median', stroke: named, fill: named, symbol: named, r: 3.5 }),
          Plot.tip(points, Plot.pointer({ x: 'name', y: 'median', fill: 'var(--panel)', title: (p) => `${p.row.name}\n${p.name}: ${asTime(p.median)}` }))] })
    : Plot.plot({ ...shared, x: { type: 'log', tickFormat: asTime, label: null, ticks: 4 }, y: { percent: true, label: null, grid: true, ticks: 4 }, marks: [
        Plot.line(bars, { x: 'ns', y: 'share', z: named, stroke: named, curve: 'step' }), Plot.ruleY([0], { stroke: 'var(--line)' })] });
  const made = figure('Latency', points.length ? 'percentiles of single operations, with interval' : 'share of operations, % by powers of two', svg,
    'Latency of single operations');
  made.append(seriesLegend(colour.domain));
  if (several) made.querySelector('figcaption').prepend(element('span', { className: 'letter' }, letterOf(r)), ' ');
  return made;
};

const seriesLegend = (names) => element('div', { className: 'legend', ariaHidden: 'true' }, ...names.map((name, i) => element('span', {},
  Plot.plot({ width: 14, height: 14, margin: 0, axis: null, style: { ...STYLE, display: 'inline' }, marks: [Plot.dot([[0, 0]],
    { frameAnchor: 'middle', r: 4.2, symbol: SYMBOLS[i % SYMBOLS.length], fill: COLOURS[i % COLOURS.length], stroke: COLOURS[i % COLOURS.length] })] }), name)));

/* What stands below the table of a question. */
const laneCharts = (section, holder) => {
  const rows = rowsOf(section), { pair, half } = pairOf(widthOf(holder));
  holder.append(pair);
  runs.forEach((run, r) => {
    const group = groupOf(section, r);
    if (!group || group.dropped) return;
    for (const made of [timeline(run, r, group, baselineOf(section, group), half), latencyChart(rows, r, half),
      ...paramCurves(run, r, group, half)]) if (made) pair.append(made);
  });
  if (!pair.children.length) pair.remove();
};
