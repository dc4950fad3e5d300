/* table.js - the tables become sortable, can be filtered, take another unit or baseline, and can be copied. */
const UNITS = [['GiB/s', 2 ** 30], ['MiB/s', 2 ** 20], ['KiB/s', 2 ** 10], ['GB/s', 1e9], ['MB/s', 1e6]];
const FACTORS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, k: 1e3, M: 1e6, G: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/* "1.18 s" as 1.18, "12.3 ms" as 0.0123, "1–3" as 1.003, "-" as nothing. */
const numberOf = (text) => {
  const found = text.trim().match(/^([-+]?\d+(?:\.\d+)?)(?:–(\d+))?\s*([A-Za-z]*)/);
  if (!found) return null;
  return (parseFloat(found[1]) + (found[2] ? parseFloat(found[2]) / 1000 : 0)) * (FACTORS[found[3]] || 1);
};

Tablesort.extend('number', () => false, (a, b) => {
  const value = (text) => (text === '' || Number.isNaN(+text) ? -Infinity : +text);
  return value(b) === value(a) ? 0 : value(b) - value(a);
});

const setCell = (td, text) => {
  td.textContent = text === '' ? '–' : text;
  const number = numberOf(text);
  td.dataset.sort = number == null ? 'none' : String(number);
};

/* ---- copying ---- */

const tableRows = (table) => [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, ' ').trim()));
const csvOf = (rows) => rows.map((row) => row.map((field) => (/[",\n]/.test(field) ? `"${field.replace(/"/g, '""')}"` : field)).join(',')).join('\n') + '\n';
const markdownOf = ([head, ...rows]) => [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map((field) => field.replace(/([\\|`*_<>[\]])/g, '\\$1')).join(' | ')} |`).join('\n') + '\n';

const copyText = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element('textarea', { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(`${what} copied`);
};

const copyButton = (label, text, what) => {
  const button = element('button', { type: 'button', className: 'copy' }, label);
  button.addEventListener('click', () => {
    copyText(text(), what);
    button.textContent = 'copied';
    setTimeout(() => { button.textContent = label; }, 1200);
  });
  return button;
};

/* ---- one table ---- */

const columnOf = (table, key) => [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.key === key);

const prepareSort = (table) => {
  const numeric = (i) => [...table.tBodies[0].rows].some((row) => numberOf(row.cells[i].textContent) != null);
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    const isName = head.dataset.key === 'method' || head.dataset.key === 'verdict' || head.dataset.key === 'label';
    if (isName || !numeric(i)) return;
    head.dataset.sortMethod = 'number';
    for (const row of table.tBodies[0].rows) {
      const number = numberOf(row.cells[i].textContent);
      row.cells[i].dataset.sort = number == null ? 'none' : String(number);
    }
  });
  new Tablesort(table, { descending: true });
  table.tHead.addEventListener('keydown', (event) => {
    if (event.key !== ' ' || event.target.tagName !== 'TH') return;
    event.preventDefault();
    event.target.click();
  });
  table.addEventListener('afterSort', () => {
    const head = table.querySelector('th[aria-sort]');
    if (head) say(`sorted by ${head.textContent}, ${head.getAttribute('aria-sort')}`);
  });
};

const setUnit = (table, group, unit) => {
  const column = columnOf(table, 'rate'), [, factor] = UNITS.find(([name]) => name === unit);
  if (column < 0) return;
  table.tHead.rows[0].cells[column].textContent = unit;
  for (const row of table.tBodies[0].rows) {
    const cell = group.cells[+row.dataset.cell];
    if (cell.bytes_per_s && !cell.floor) setCell(row.cells[column], (cell.bytes_per_s / factor).toFixed(digits(cell.bytes_per_s / factor)));
  }
};

const setBaseline = (table, section, run, group) => {
  const base = baselineOf(section, group), own = base >= 0 && group.cells[base].id === group.baseline;
  const columns = { speed: columnOf(table, 'speed'), interval: columnOf(table, '95% interval'), verdict: columnOf(table, 'verdict') };
  for (const row of table.tBodies[0].rows) {
    const index = +row.dataset.cell, cell = group.cells[index];
    if (cell.floor) continue;
    const ratio = ratioOf(run, group, base, index), verdict = own ? cell.verdict : verdictOf(group, base, index, ratio);
    if (columns.speed >= 0) setCell(row.cells[columns.speed], ratio ? asRatio(ratio.median) : '');
    if (columns.interval >= 0) setCell(row.cells[columns.interval], ratio && index !== base ? asInterval(ratio) : '');
    if (columns.verdict >= 0) row.cells[columns.verdict].textContent = wordOf(run, verdict || '');
    row.classList.toggle('base', index === base);
  }
};

const filterRows = (table, words) => {
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.cells.length ? row.textContent.toLowerCase() : '';
    row.hidden = !words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
    shown += !row.hidden;
  }
  return shown;
};

/* ---- the tools of a question ---- */

const tableTools = (holder, section, run, group, table) => {
  const filter = element('input', { type: 'search', placeholder: 'filter rows', ariaLabel: 'Filter rows of ' + group.title });
  filter.addEventListener('input', () => say(`${filterRows(table, filter.value)} rows`));
  const bar = element('div', { className: 'toolbar' }, filter);
  if (columnOf(table, 'rate') >= 0) {
    const unit = element('select', {}, ...UNITS.map(([name]) => element('option', { value: name }, name)));
    unit.value = table.tHead.rows[0].cells[columnOf(table, 'rate')].textContent;
    unit.addEventListener('change', () => setUnit(table, group, unit.value));
    bar.append(element('label', {}, 'unit ', unit));
  }
  bar.append(copyButton('copy CSV', () => csvOf(tableRows(table)), 'table'), copyButton('copy Markdown', () => markdownOf(tableRows(table)), 'table'));
  holder.before(bar);
};

const baselineTool = (section, onBaseline) => {
  const ids = [...new Set(rowsOf(section).map((row) => row.id))];
  if (ids.length < 2) return null;
  const select = element('select', { ariaLabel: 'Baseline' }, ...ids.map((id) => element('option', { value: id }, id)));
  const first = runs.map((_, r) => groupOf(section, r)).find(Boolean);
  select.value = first.baseline;
  select.addEventListener('change', () => onBaseline(select.value));
  return { select, bar: element('div', { className: 'toolbar' }, element('label', {}, 'baseline ', select)) };
};
