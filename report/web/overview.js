/* overview.js - charts over several questions: which method is good where, and how rates grow with request size and depth. */

/* ---- heat maps ---- */

/* The speed of a cell against the fastest of its question; 1 is the best. */
const shareOfBest = (group, index) => {
  const best = group.order.find((i) => isMeasured(group.cells[i]) && !group.cells[i].floor);
  const pair = best == null ? null : group.pairs[best][index];
  return pair ? Math.min(pair[0], 1) : null;
};

/* For each row and column the best cell that is both: {row, column, share, cell}. */
const heatPoints = (groups, columnOf, rowOf) => {
  const points = new Map();
  for (const group of groups) {
    for (const index of group.order) {
      const cell = group.cells[index], share = isMeasured(cell) && !cell.floor ? shareOfBest(group, index) : null;
      if (share == null) continue;
      const row = rowOf(cell), column = columnOf(group), key = JSON.stringify([row, column]), old = points.get(key);
      if (!old || share > old.share || (cell.best && !old.cell.best)) points.set(key, { row, column, share: Math.max(share, old ? old.share : 0), cell, group });
    }
  }
  return [...points.values()];
};

const heatMap = (title, small, points, columns, columnText, width) => {
  const mean = (row) => { const own = points.filter((p) => p.row === row); return own.reduce((sum, p) => sum + Math.log(p.share), 0) / own.length; };
  const present = (row) => points.filter((p) => p.row === row).length;
  const rows = [...new Set(points.map((p) => p.row))].sort((a, b) => (present(b) >= columns.length / 2) - (present(a) >= columns.length / 2) || mean(b) - mean(a));
  const left = Math.min(Math.max(...rows.map((row) => row.length), 4) * LETTER_WIDTH + 14, 330);
  const least = left + columns.length * 58, whole = Math.min(Math.max(width, least), left + columns.length * 150);
  const low = Math.min(Math.max(Math.min(...points.map((p) => p.share)), 0.05), 0.5);
  const depth = (share) => 1 - Math.log(Math.max(share, low)) / Math.log(low);
  const colour = (share) => `color-mix(in oklab, var(--faster) ${Math.round(6 + 94 * depth(share) ** 1.4)}%, var(--panel))`;
  const svg = Plot.plot({
    width: whole, height: 44 + rows.length * 23, marginLeft: left, marginTop: 44, marginBottom: 2, marginRight: 2, style: STYLE,
    x: { type: 'band', domain: columns, axis: 'top', tickFormat: columnText, tickSize: 0, label: null, padding: 0.04 },
    y: { type: 'band', domain: rows, axis: null, padding: 0.06 },
    marks: [
      Plot.cell(points, { x: 'column', y: 'row', fill: (p) => colour(p.share), inset: 0.5, rx: 2 }),
      Plot.cell(points.filter((p) => p.cell.best), { x: 'column', y: 'row', stroke: 'var(--ink)', strokeWidth: 1.6, fill: 'none', inset: 0.5, rx: 2 }),
      Plot.text(points, { x: 'column', y: 'row', text: (p) => (p.cell.best ? '★ ' : p.cell.verdict === 'unclear' ? '? ' : '') + short(p.share), fontSize: 11,
        fill: (p) => (depth(p.share) > 0.72 ? 'var(--panel)' : 'var(--ink)') }),
      Plot.text(rows, { y: (row) => row, text: (row) => row, frameAnchor: 'left', textAnchor: 'end', dx: -8, fontFamily: 'var(--mono)', fontSize: 11.5 }),
      Plot.tip(points, Plot.pointer({ x: 'column', y: 'row', fill: 'var(--panel)', fontSize: 11, fontFamily: 'var(--mono)', lineWidth: 60,
        title: (p) => `${p.cell.id}\n${p.group.title}\n${short(p.share)} of the fastest; against the baseline: ${p.cell.verdict || ''}` })),
    ],
  });
  const made = figure(title, small, svg, `${title}: ` + points.map((p) => `${p.row}, ${columnText(p.column).replace(/\n/g, ' ')}: ${short(p.share)}`).join('; '));
  made.classList.add('wide');
  made.style.width = 'auto';
  return made;
};

const mapOfAll = (run, width) => {
  const groups = run.groups.filter((group) => !group.dropped && group.cells.filter(isMeasured).length > 1);
  const points = heatPoints(groups, (group) => group.id, (cell) => cell.style || cell.method);
  const columns = groups.map((group) => group.id).filter((id) => points.some((p) => p.column === id));
  if (columns.length < 2 || columns.length > 16) return null;
  return heatMap('Which method where', 'speed by that of the fastest of each question, its best parameters; ★ best set, ? unclear', points, columns,
    (id) => id.split('-').join('\n').replace(/\n(\d)/, ' $1'), width);
};

/* ---- families: questions that differ in the request size alone ---- */

const familyKey = (group, ...except) => JSON.stringify(Object.entries(group.demand).filter(([key]) => !['request_bytes', ...except].includes(key)));

const familiesOf = (run, ...except) => {
  const families = new Map();
  for (const group of run.groups) {
    if (group.dropped || !group.demand.request_bytes || !group.cells.some(isMeasured)) continue;
    const key = familyKey(group, ...except);
    families.set(key, [...(families.get(key) || []), group]);
  }
  return [...families.values()].filter((groups) => new Set(groups.map((group) => group.demand.request_bytes)).size > 1);
};

const demandText = (demand) => [demand.direction, demand.task === 'blocks' ? '' : demand.task, demand.cache === 'warm' && demand.direction !== 'read' ? '' : demand.cache,
  demand.durability === 'none' ? '' : 'durable ' + demand.durability].filter(Boolean).join(' ');

const familyMap = (groups, width) => {
  const demand = groups[0].demand, sizes = [...new Set(groups.map((group) => group.demand.request_bytes))].sort((a, b) => a - b);
  const points = heatPoints(groups, (group) => group.demand.request_bytes, (cell) => cell.style || cell.id);
  const often = points.filter((p) => points.some((other) => other.row === p.row && other.column !== p.column));
  return heatMap(`${demandText(demand)}, ${demand.access}, by request size`, 'speed by that of the fastest of each size; ★ best set, ? unclear', often, sizes, asSize, width);
};

/* ---- curves ---- */

const GOOD_PLACES = ['sequential', 'random'];

/* Rate over a size or depth: `points` are {x, rate, low, high, name, facet, published}. */
const curveChart = (title, small, every, options) => {
  const points = every.filter((p) => every.some((other) => other.name === p.name && other.facet === p.facet && other.x !== p.x));
  const names = [...new Set(points.map((p) => p.name))], known = names.slice(0, COLOURS.length), facets = GOOD_PLACES.filter((f) => points.some((p) => p.facet === f));
  const colour = (p) => (known.includes(p.name) ? COLOURS[known.indexOf(p.name)] : 'var(--grey)');
  const measured = points.filter((p) => !p.published), published = points.filter((p) => p.published);
  const xs = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b), room = (options.width - 70) / Math.max(facets.length, 1);
  const step = Math.ceil((xs.length * 52) / room), rates = points.flatMap((p) => [p.rate, p.low || p.rate, p.high || p.rate]);
  const domain = extent(rates, 1.1);
  const fx = facets.length ? 'facet' : undefined;
  const svg = Plot.plot({
    width: options.width, height: 290, marginLeft: 74, marginRight: 26, marginTop: facets.length ? 24 : 8, marginBottom: 36, style: STYLE,
    fx: fx ? { domain: facets, label: null, padding: 0.14, axis: 'top' } : undefined,
    x: { type: 'log', domain: [xs[0], xs[xs.length - 1]], axis: null }, y: { type: 'log', domain, axis: null },
    marks: [
      Plot.gridY(rateTicks(...domain, 220), { stroke: 'var(--line)', strokeOpacity: 1 }),
      axis(Plot.axisY, rateTicks(...domain, 220), (tick) => asSize(tick) + '/s'), axis(Plot.axisX, xs.filter((_, i) => i % step === 0), options.xText),
      Plot.areaY(measured.filter((p) => p.low != null), { x: 'x', y1: 'low', y2: 'high', z: 'name', fill: colour, fillOpacity: 0.1, fx }),
      Plot.line(published, { x: 'x', y: 'rate', z: 'name', stroke: colour, strokeDasharray: '2 4', strokeWidth: 1.4, fx }),
      Plot.line(measured, { x: 'x', y: 'rate', z: 'name', stroke: colour, strokeWidth: 1.8, fx }),
      ...known.map((name, i) => Plot.dot(measured.filter((p) => p.name === name), { x: 'x', y: 'rate', r: 3.2, symbol: SYMBOLS[i], fill: COLOURS[i], stroke: COLOURS[i], fx })),
      Plot.tip(points, Plot.pointer({ x: 'x', y: 'rate', fx, fill: 'var(--panel)', fontSize: 11, fontFamily: 'var(--mono)', lineWidth: 60,
        title: (p) => `${p.name}${p.published ? ' (published)' : ''}\n${options.xText(p.x)}: ${asRate(p.rate)}` })),
    ],
  });
  const made = figure(title, small, svg, `${title}: ` + measured.map((p) => `${p.name}, ${p.facet || ''} ${options.xText(p.x)}: ${asRate(p.rate)}`).join('; '));
  made.append(seriesLegend(known));
  return made;
};

/* A rate has the interval of its time, the other way round. */
const ratePoint = (cell, more) => {
  const time = cell.elapsed_ns, rate = cell.bytes_per_s;
  return { rate, low: time.low == null ? null : (rate * time.median) / time.high, high: time.low == null ? null : (rate * time.median) / time.low, ...more };
};

const familyPoints = (groups, withPublished) => groups.flatMap((group) => group.cells.filter((cell) => isMeasured(cell) && !cell.floor && cell.bytes_per_s)
  .flatMap((cell) => {
    const place = { x: group.demand.request_bytes, name: cell.style || cell.id, facet: group.demand.access };
    const own = [ratePoint(cell, place)];
    if (withPublished && cell.published_mb_per_s) own.push({ ...place, rate: cell.published_mb_per_s * 1e6, published: true });
    return own;
  })).sort((a, b) => a.x - b.x);

/* Study E drew two of these: input and output, each in order and at random, over the size of blocks. */
const familyCurves = (groups, width, withPublished) => {
  const words = { read: 'Input', write: 'Output', mixed: 'Input and output' }, demand = groups[0].demand;
  const rest = demandText(demand).replace(/^\w+ ?/, '');
  return curveChart(`${words[demand.direction]} over request size${rest ? ', ' + rest : ''}`,
    `rate, both axes logarithmic${withPublished ? `; dashed: ${data.overlay.name} as published` : ''}`, familyPoints(groups, withPublished),
    { width, xText: asSize });
};

/* Cells of one question that differ in one number: block, depth or threads. */
const paramCurves = (run, r, group, width) => {
  const charts = [];
  for (const [param, text] of [['block', asSize], ['depth', String], ['threads', String]]) {
    const series = new Map();
    for (const cell of group.cells) {
      const value = param === 'threads' ? cell.threads : cell.params[param];
      if (!isMeasured(cell) || cell.floor || !cell.bytes_per_s || typeof value !== 'number') continue;
      const others = Object.entries({ ...cell.params, threads: cell.threads, place: cell.place }).filter(([key]) => key !== param);
      const key = cell.method + JSON.stringify(others);
      series.set(key, [...(series.get(key) || []), ratePoint(cell, { x: value, cell })]);
    }
    const long = [...series.values()].filter((points) => new Set(points.map((p) => p.x)).size >= 3);
    const points = long.flatMap((own) => own.map((p) => ({ ...p, name: own.length ? p.cell.method + othersOf(own, param) : '' }))).sort((a, b) => a.x - b.x);
    if (!points.length) continue;
    const made = curveChart(`Over ${param}`, 'rate, both axes logarithmic', points, { width, xText: text });
    if (several) made.querySelector('figcaption').prepend(element('span', { className: 'letter' }, letterOf(r)), ' ');
    charts.push(made);
  }
  return charts;
};

/* What the name of a cell says beside the number that varies. */
const othersOf = (points, param) => {
  const inside = (points[0].cell.id.match(/\[(.*)\]/) || ['', ''])[1].split(',').filter((part) => part && !part.startsWith(param + '='));
  return inside.length ? `[${inside.join(',')}]` : '';
};

/* ---- all of it ---- */

const overviewCharts = (holder, state) => {
  const width = widthOf(holder);
  const published = runs.some((run) => run.groups.some((group) => group.cells.some((cell) => cell.published_mb_per_s)));
  if (published) holder.append(publishedSwitch(state));
  runs.forEach((run, r) => {
    const made = [mapOfAll(run, width)].filter(Boolean), { pair: curves, half } = pairOf(width);
    for (const groups of familiesOf(run, 'access', 'coverage')) curves.append(familyCurves(groups, half, published && state.published));
    for (const groups of familiesOf(run)) curves.append(familyMap(groups, half));
    if (curves.children.length) made.push(curves);
    if (made.length && several) holder.append(element('h3', {}, element('span', { className: 'letter' }, letterOf(r)), ' ' + run.name));
    holder.append(...made);
  });
  return holder.children.length > 0;
};

const publishedSwitch = (state) => {
  const box = element('input', { type: 'checkbox', checked: state.published, id: 'published' });
  box.addEventListener('change', () => { state.published = box.checked; state.redraw(); });
  return element('div', { className: 'toolbar' }, element('label', { htmlFor: 'published' }, box, ` lines of ${data.overlay.name} (${data.overlay.source}; ${data.overlay.machine})`));
};
