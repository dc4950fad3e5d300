/* page.js - puts the charts and tools into the page, a question at a time, and keeps them in step with what the reader chooses. */
const state = { published: true, aligned: false, redraw: () => drawOverview() };
const queue = [];

/* Work that can wait, so that the answer is there at once. */
const later = window.requestIdleCallback ? (work) => requestIdleCallback(work, { timeout: 200 }) : (work) => setTimeout(work, 1);
const workOff = (deadline) => {
  do { (queue.shift() || (() => {}))(); } while (queue.length && deadline && deadline.timeRemaining && deadline.timeRemaining() > 8);
  if (queue.length) later(workOff);
  else document.documentElement.dataset.drawn = 'true';
};
const enqueue = (...work) => {
  delete document.documentElement.dataset.drawn;
  if (!queue.length) later(workOff);
  queue.push(...work);
};
const finish = () => {
  while (queue.length) queue.shift()();
  document.documentElement.dataset.drawn = 'true';
};

/* ---- charts ---- */

const sections = [...document.querySelectorAll('.charts[data-section]')].map((holder) => {
  const index = +holder.dataset.section, below = element('div', { className: 'charts' });
  holder.closest('.group').append(below);
  return { index, holder, below, tables: [], tool: null };
});

const drawSection = (section) => {
  section.holder.replaceChildren();
  section.below.replaceChildren();
  if (section.tool) section.holder.append(section.tool.bar);
  rowCharts(section.index, section.holder, state.aligned, (id) => choose(section, id));
  laneCharts(section.index, section.below);
};

const drawOverview = () => {
  const part = document.getElementById('overview'), holder = part.querySelector('.charts');
  part.hidden = false;
  holder.replaceChildren();
  const any = overviewCharts(holder, state);
  part.hidden = !any;
  document.querySelector('nav a[href="#overview"]').hidden = !any;
};

const drawAll = () => {
  queue.length = 0;
  enqueue(drawOverview, ...sections.map((section) => () => drawSection(section)));
};

/* ---- choices ---- */

const choose = (section, id) => {
  chosen.set(section.index, id);
  if (section.tool) section.tool.select.value = id;
  section.tables.forEach(({ table, run, group }) => setBaseline(table, section.index, run, group));
  drawSection(section);
  say(`baseline: ${id}`);
};

const alignTool = () => {
  const box = element('input', { type: 'checkbox' });
  box.addEventListener('change', () => {
    state.aligned = box.checked;
    for (const other of document.querySelectorAll('.align input')) other.checked = box.checked;
    drawAll();
  });
  return element('label', { className: 'align' }, box, 'align samples by round');
};

const equip = (section) => {
  section.tool = baselineTool(section.index, (id) => choose(section, id));
  if (section.tool) section.tool.bar.append(alignTool());
  for (const part of section.holder.closest('.group').querySelectorAll('.run')) {
    const run = runs[+part.dataset.run], group = run.groups[+part.dataset.group], table = part.querySelector('table');
    if (!table) continue;
    section.tables.push({ table, run, group });
    prepareSort(table);
    tableTools(part.querySelector('.scroll'), section.index, run, group, table);
  }
};

/* ---- theme ---- */

const THEMES = ['system', 'light', 'dark'];
const remember = (theme) => { try { localStorage.setItem('weir-theme', theme); } catch { /* a file may have no storage */ } };
const remembered = () => { try { return localStorage.getItem('weir-theme'); } catch { return null; } };

const themeTool = () => {
  const button = element('button', { type: 'button', id: 'theme' });
  const set = (theme) => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `theme: ${theme}`;
  };
  let now = Math.max(THEMES.indexOf(remembered()), 0);
  set(THEMES[now]);
  button.addEventListener('click', () => {
    now = (now + 1) % THEMES.length;
    set(THEMES[now]);
    remember(THEMES[now]);
  });
  return button;
};

/* ---- data ---- */

const download = (label, name, type, text) => {
  const button = element('button', { type: 'button' }, label);
  button.addEventListener('click', () => {
    const address = URL.createObjectURL(new Blob([text()], { type }));
    element('a', { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return button;
};

const samplesCsv = () => {
  const lines = [['run', 'group', 'cell', 'round', 'position', 'elapsed_ns', 'cpu_ns']];
  for (const run of runs) {
    for (const group of run.groups) {
      const samples = group.samples;
      samples.cell.forEach((cell, i) => lines.push([run.name, group.id, cell < 0 ? `${group.baseline}#twin` : group.cells[cell].id, samples.round[i], samples.position[i],
        samples.ns[i], samples.cpu_ns[i]].map(String)));
    }
  }
  return csvOf(lines);
};

/* ---- the whole ---- */

document.querySelector('.tools').append(themeTool());
document.querySelector('.downloads').append(
  download('data as JSON', 'weir.json', 'application/json', () => document.getElementById('data').textContent),
  download('samples as CSV', 'weir-samples.csv', 'text/csv', samplesCsv));
for (const code of document.querySelectorAll('[data-copy]')) code.after(' ', copyButton('copy', () => code.textContent, 'command'));
sections.forEach(equip);
drawAll();

let width = document.documentElement.clientWidth, waiting = 0;
addEventListener('resize', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (width === document.documentElement.clientWidth) return;
    width = document.documentElement.clientWidth;
    drawAll();
  }, 150);
});
addEventListener('beforeprint', () => {
  paper.width = PAPER;
  drawAll();
  finish();
});
addEventListener('afterprint', () => {
  paper.width = 0;
  drawAll();
});
