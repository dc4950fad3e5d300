/* data.js - the data of the page, looked up: runs, questions, cells against a baseline; and numbers as text. No statistics. */
const data = JSON.parse(document.getElementById('data').textContent);
const runs = data.runs;
const several = runs.length > 1;
const letterOf = (run) => String.fromCharCode(65 + (run % 26));
/* Which cell each question is compared with, where the reader chose another one than the run's own. */
const chosen = new Map();

const groupOf = (section, run) => {
  const index = data.sections[section][run];
  return index == null ? null : runs[run].groups[index];
};
const isMeasured = (cell) => cell.status === 'ok' && cell.n > 0;
const countsUse = (run) => run.rank_by === 'cpu' || run.rank_by === 'memory';

const baselineOf = (section, group) => {
  const byId = (id) => group.cells.findIndex((cell) => cell.id === id && isMeasured(cell) && !cell.floor);
  const own = chosen.has(section) ? byId(chosen.get(section)) : -1;
  return own >= 0 ? own : byId(group.baseline);
};

/* The speed of cell `index` against cell `base`, as the tables show it. */
const ratioOf = (run, group, base, index) => {
  const pair = base < 0 ? null : group.pairs[base][index];
  if (!pair) return null;
  const known = pair.length === 3;
  if (!countsUse(run)) return { median: pair[0], low: known ? pair[1] : null, high: known ? pair[2] : null, speed: pair };
  return { median: 1 / pair[0], low: known ? 1 / pair[2] : null, high: known ? 1 / pair[1] : null, speed: pair };
};

/* The rule of the verdicts, for a baseline that the run did not have. */
const verdictOf = (group, base, index, ratio) => {
  if (index === base) return 'baseline';
  if (!ratio || ratio.speed.length < 3 || group.rounds < group.rounds_needed.baseline) return 'unclear';
  const [, low, high] = ratio.speed, more = 1 + group.margin, asked = 1 + group.margin_asked;
  if (low > more) return 'faster';
  if (high < 1 / more) return 'slower';
  return low >= 1 / asked && high <= asked ? 'same' : 'unclear';
};

const wordOf = (run, verdict) =>
  countsUse(run) && verdict === 'faster' ? 'less' : countsUse(run) && verdict === 'slower' ? 'more'
    : verdict === 'baseline' ? '(base)' : verdict;

/* All that stands on a row of the charts of a question: the cells of its runs, in the order of the first run that has them. */
const rowsOf = (section) => {
  const rows = [], order = [];
  runs.forEach((run, r) => {
    const group = groupOf(section, r);
    if (!group || group.dropped) return;
    const base = baselineOf(section, group);
    for (const index of group.order) {
      const cell = group.cells[index];
      if (!isMeasured(cell) || cell.floor) continue;
      if (!order.includes(cell.id)) order.push(cell.id);
      const ratio = ratioOf(run, group, base, index);
      const own = group.cells[base] && group.cells[base].id === group.baseline;
      const verdict = own && cell.verdict ? cell.verdict : verdictOf(group, base, index, ratio);
      rows.push({ r, run, group, base, index, cell, id: cell.id, ratio, verdict });
    }
  });
  rows.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id) || a.r - b.r);
  rows.forEach((row, i) => {
    row.y = i;
    row.first = i === 0 || rows[i - 1].id !== row.id;
    row.name = (row.cell.style ? row.cell.style + ' ' : '') + row.id;
  });
  return rows;
};

/* Marks of samples that say something against them; read back in time, or timed by themselves, does not. */
const oddOf = (samples, i) => (samples.flags ? samples.flags[i] & ~0x108 : 0);

/* ---- numbers as text, as the tables have them ---- */

const digits = (value) => (value < 0.0995 ? 4 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
const short = (value) => value.toFixed(value < 0.0995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
const asRatio = (value) => short(value) + '×';
const scaled = (value, steps) => {
  const [factor, unit] = steps.find(([least]) => value >= least) || steps[steps.length - 1];
  const number = value / factor;
  return (number === 0 ? '0' : number.toFixed(number < 9.995 ? 2 : number < 99.95 ? 1 : 0)) + ' ' + unit;
};
const asTime = (ns) => scaled(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
const asBytes = (bytes) => scaled(bytes, [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);
const asRate = (bytes) => asBytes(bytes) + '/s';
const asCount = (count) => (count < 9999.5 ? count.toFixed(count > 0 && count < 9.95 ? 1 : 0).replace(/\.0$/, '')
  : scaled(count, [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]));
/* For the marks of an axis: whole where it is whole. */
const asShort = (text) => text.replace(/\.0+ /, ' ').replace(/(\.\d*?[1-9])0+ /, '$1 ');
const asSize = (bytes) => asShort(asBytes(bytes));
const asInterval = (ratio) => (ratio.low == null ? '' : `${short(ratio.low)} … ${short(ratio.high)}`);
const asRank = (cell) => (!cell.rank ? '' : cell.rank.low === cell.rank.high ? `${cell.rank.low}` : `${cell.rank.low}–${cell.rank.high}`);

/* The width that charts may take: of the page, or of the paper while it is printed (A4 less its margins). */
const PAPER = 690;
const paper = { width: 0 };
const widthOf = (holder) => paper.width || holder.clientWidth;

/* ---- elements ---- */

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const say = (text) => { document.getElementById('said').textContent = text; };
