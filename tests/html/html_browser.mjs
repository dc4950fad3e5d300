// html_browser.mjs - does with the report what a reader does, in headless Chromium: html_browser.mjs CHROMIUM FOLDER
//
// FOLDER holds one.html, several.html and blocks.html; screenshots go there. Any message on the console, any request but for
// the page itself, and anything that a reader could not find or read is a failure.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const [executablePath, folder] = process.argv.slice(2);
const address = (name) => pathToFileURL(path.join(folder, name)).href;
const SIZES = { 360: 800, 800: 900, 1600: 900 };
let browser;

const open = async (name, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1600, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage(), problems = [];
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => { if (request.url() !== address(name) && !request.url().startsWith('blob:')) problems.push(`request: ${request.url()}`); });
  await page.goto(address(name));
  if (options.javaScriptEnabled !== false) await page.waitForFunction(() => document.documentElement.dataset.drawn === 'true');
  return { page, close: async () => { await context.close(); assert.deepEqual(problems, [], `${name}: console and network stay silent`); } };
};

const drawn = (page) => page.waitForFunction(() => document.documentElement.dataset.drawn === 'true');

/* ---- what must hold at every width and in every theme ---- */

const outside = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/* Texts of a chart that cover each other. */
const overlaps = (page) => page.evaluate(() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure > svg')) {
    const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent && !text.closest('[aria-label="tip"]'));
    const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() })).filter(({ box }) => box.width > 0);
    for (let i = 0; i < boxes.length; i++) {
      for (let j = 0; j < i; j++) {
        const a = boxes[i].box, b = boxes[j].box;
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 2 && high > 4) found.push(`${svg.getAttribute('aria-label').slice(0, 40)}: "${boxes[i].text}" and "${boxes[j].text}"`);
      }
    }
  }
  return found;
});

const nameless = async (page) => {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const roles = ['button', 'combobox', 'searchbox', 'checkbox', 'link', 'img', 'image', 'columnheader'];
  return nodes.filter((node) => !node.ignored && node.role && roles.includes(node.role.value) && !(node.name && node.name.value)).map((node) => node.role.value);
};

const looksRight = async (name, width) => {
  const { page, close } = await open(name, { viewport: { width, height: SIZES[width] } });
  assert.ok(await page.locator('figure > svg').count() > 5, `${name}: charts are drawn`);
  assert.ok(await outside(page) <= 0, `${name} at ${width}: the page is as wide as the window`);
  assert.deepEqual(await overlaps(page), [], `${name} at ${width}: no text covers another`);
  assert.deepEqual(await nameless(page), [], `${name} at ${width}: all that can be used has a name`);
  if (name === 'one.html') {
    const bottom = await page.locator('.answers').evaluate((list) => list.getBoundingClientRect().bottom);
    assert.ok(bottom <= SIZES[width], `${name} at ${width}: the answer ends at ${bottom}`);
  }
  for (const colorScheme of ['light', 'dark']) await looksRightIn(page, colorScheme, `${name.replace('.html', '')}-${width}-${colorScheme}`);
  await close();
};

const looksRightIn = async (page, colorScheme, picture) => {
  await page.emulateMedia({ colorScheme });
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number).reduce((a, b) => a + b) / 3);
  assert.ok(colorScheme === 'dark' ? ground < 60 : ground > 220, `${colorScheme}: ${ground}`);
  await page.screenshot({ path: path.join(folder, `${picture}.png`) });
  if (process.env.KEEP) await page.screenshot({ path: path.join(folder, `${picture}-whole.png`), fullPage: true });
};

/* ---- what a reader does ---- */

const cells = (page, key, group = '#g0') => page.evaluate(([key, group]) => {
  const table = document.querySelector(`${group} table.results`), column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.key === key);
  return [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[column].textContent);
}, [key, group]);
const head = (page, key) => page.locator(`#g0 th[data-key="${key}"]`);
const rising = (values) => values.every((value, i) => i === 0 || values[i - 1] <= value);

const sorts = async (page) => {
  const numbers = async () => (await cells(page, 'rate')).map(parseFloat).filter((value) => !Number.isNaN(value));
  const before = await cells(page, 'method');
  await head(page, 'rate').click();
  assert.ok(rising((await numbers()).reverse()), 'first click: fastest first');
  await head(page, 'rate').press('Enter');
  assert.ok(rising(await numbers()), 'Enter: slowest first');
  assert.equal(await head(page, 'rate').getAttribute('aria-sort'), 'ascending');
  await head(page, 'method').focus();
  await page.keyboard.press('Space');
  const names = await cells(page, 'method');
  assert.notDeepEqual(names, before);
  assert.deepEqual([...names].sort(), [...before].sort(), 'no row is lost');
};

const filters = async (page) => {
  const box = page.locator('#g0 input[type=search]').first(), all = (await cells(page, 'method')).length;
  await box.fill('MAP view');
  const left = await cells(page, 'method');
  assert.ok(left.length > 0 && left.length < all && left.every((name) => /map.*view/.test(name)), left.join());
  await box.fill('');
  assert.equal((await cells(page, 'method')).length, all);
};

const units = async (page) => {
  const before = (await cells(page, 'rate')).map(parseFloat);
  await page.locator('#g0 .toolbar select').nth(1).selectOption('MB/s');
  assert.equal(await head(page, 'rate').textContent(), 'MB/s');
  const after = (await cells(page, 'rate')).map(parseFloat);
  after.forEach((value, i) => assert.ok(Number.isNaN(value) || Math.abs(value / (before[i] * 1073.741824) - 1) < 0.06, `${before[i]} ${value}`));
};

const rowOf = async (page, name) => page.evaluate((name) => [...document.querySelector('#g0 table.results').tBodies[0].rows]
  .find((row) => row.textContent.includes(name)).textContent, name);

const baselines = async (page) => {
  const data = JSON.parse(await page.locator('#data').textContent()), group = data.runs[0].groups[0];
  const ids = group.cells.map((cell) => cell.id), other = ids.findIndex((id) => id.startsWith('map/view')), old = ids.indexOf(group.baseline);
  await page.locator('#g0 .toolbar select').first().selectOption(ids[other]);
  await drawn(page);
  assert.match(await rowOf(page, ids[other]), /1\.00×.*\(base\)/);
  const shown = parseFloat((await rowOf(page, ids[old])).match(/([\d.]+)×/)[1]), pair = group.pairs[other][old];
  assert.ok(Math.abs(shown - pair[0]) <= 0.0051, `${shown}: the pair says ${pair}`);
  await page.locator('#g0 .toolbar select').first().selectOption(group.baseline);
  assert.match(await rowOf(page, group.baseline), /1\.00×.*\(base\)/);
};

const clicks = async (page) => {
  const dot = page.locator('#g0 figure').first().locator('[aria-label=dot] path').first();
  await dot.scrollIntoViewIfNeeded();
  const box = await dot.boundingBox(), before = await page.locator('#g0 .toolbar select').first().inputValue();
  const others = await page.locator('#g0 figure').first().locator('[aria-label=dot] path').all();
  for (const other of [dot, ...others]) {
    const at = await other.boundingBox();
    await page.mouse.move(at.x + at.width / 2 + 1, at.y + at.height / 2);
    await page.mouse.click(at.x + at.width / 2, at.y + at.height / 2);
    await drawn(page);
    if (await page.locator('#g0 .toolbar select').first().inputValue() !== before) return;
  }
  assert.fail(`a click on a row chooses its method: ${JSON.stringify(box)}`);
};

const hovers = async (page) => {
  const chart = page.locator('#g0 figure svg').first();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
  await page.mouse.move(box.x + box.width * 0.6, box.y + 44);
  await page.waitForFunction(() => /a pass/.test(document.querySelector('#g0 figure svg [aria-label=tip]').textContent));
  await page.mouse.move(2, 2);
};

const themes = async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor), seen = new Set();
  for (let i = 0; i < 3; i++) {
    seen.add(`${await page.locator('#theme').textContent()} ${await ground()}`);
    await page.locator('#theme').click();
  }
  assert.equal(seen.size, 3);
  assert.equal(new Set([...seen].map((text) => text.split(' rgb')[1])).size, 2, [...seen].join());
};

const downloads = async (page) => {
  const save = async (label) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: label }).click()]);
    return fs.readFileSync(await download.path(), 'utf8');
  };
  const whole = JSON.parse(await save('data as JSON')), lines = (await save('samples as CSV')).trim().split('\n');
  assert.equal(whole.runs[0].schema, 1);
  assert.equal(lines.length - 1, whole.runs[0].groups.reduce((sum, group) => sum + group.samples.cell.length, 0));
};

const copies = async (page) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#g0').getByRole('button', { name: 'copy CSV' }).first().click();
  await page.waitForFunction(() => /copied/.test(document.getElementById('said').textContent));
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /^rank,method,/);
  assert.equal(text.trim().split('\n').length, (await cells(page, 'method')).length + 1);
};

const aligns = async (page) => {
  const first = async () => page.locator('#g0 figure').nth(1).locator('circle').first().getAttribute('cx');
  const before = await first();
  await page.locator('#g0 .align input').check();
  await drawn(page);
  assert.notEqual(await first(), before);
};

const isUsed = async () => {
  for (const step of [hovers, sorts, filters, units, baselines, clicks, themes, downloads, copies, aligns]) {
    const { page, close } = await open('one.html');
    await step(page);
    await close();
    console.log('ok  ', step.name);
  }
};

/* ---- the other pages ---- */

const printsWhole = async () => {
  const { page, close } = await open('one.html');
  const charts = () => page.evaluate(() => [...document.querySelectorAll('#g0 figure > svg')].map((svg) => +svg.getAttribute('width')));
  await page.evaluate(() => addEventListener('beforeprint', () => {
    window.printed = [...document.querySelectorAll('#g0 figure > svg')].map((svg) => +svg.getAttribute('width'));
  }));
  const before = await charts();
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  const printed = await page.evaluate(() => window.printed);
  assert.ok(printed.length > 4 && printed.every((width) => width <= 690), `charts fit the paper: ${printed}`);
  await drawn(page);
  assert.deepEqual(await charts(), before, 'and then the page again');
  fs.writeFileSync(path.join(folder, 'one.pdf'), pdf);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.toolbar:visible, nav:visible, .tools:visible').count(), 0);
  assert.ok(await page.locator('#g0 table.results:visible').count() > 0);
  await close();
};

const readsWithoutScripts = async () => {
  const { page, close } = await open('one.html', { javaScriptEnabled: false, viewport: { width: 800, height: 900 } });
  assert.ok(await page.locator('.noscript:visible').count() === 1);
  assert.ok(await page.locator('table.results tbody tr:visible').count() > 8);
  assert.ok(await page.locator('.answers li:visible').count() >= 2);
  assert.ok(await page.evaluate(() => 1).catch(() => 1));
  await close();
};

const drawsTheStudy = async () => {
  const { page, close } = await open('blocks.html');
  for (const words of ['Input over request size', 'Output over request size']) {
    const chart = page.locator('#overview figure').filter({ hasText: words }).first();
    assert.equal(await chart.locator('path[stroke-dasharray], g[stroke-dasharray] path').count() >= 10, true, `${words}: lines of five styles, in order and at random`);
    const text = await chart.textContent();
    for (const word of ['sequential', 'random', 'FILE', 'Hnd', 'MMap', 'Win', '64 B', '256 KiB']) assert.ok(text.includes(word), `${words}: ${word}`);
  }
  await page.locator('#published').uncheck();
  assert.equal(await page.locator('#overview path[stroke-dasharray], #overview g[stroke-dasharray] path').count(), 0);
  await close();
};

const drawsLatency = async () => {
  const { page, close } = await open('latency.html');
  const label = await page.locator('figure').filter({ hasText: 'Latency' }).first().textContent();
  assert.ok(label.includes('p50') && label.includes('p99') && label.includes('fd/pread'), label);
  assert.ok(await page.locator('table.latency tbody tr').count() === 2);
  const rounds = await page.locator('figure').filter({ hasText: 'Rounds' }).first().textContent();
  assert.ok(rounds.includes('dashed: the control'), rounds);
  assert.deepEqual(await overlaps(page), []);
  await close();
};

const setsRunsSideBySide = async () => {
  const { page, close } = await open('several.html');
  const chart = await page.locator('#g0 figure').first().textContent();
  assert.ok(/A/.test(chart) && /B/.test(chart));
  assert.equal(await page.locator('#g0 figure').first().locator('svg').first().evaluate((svg) => svg.getAttribute('aria-label').split('map/populate').length), 3);
  await close();
};

const opens = async () => {
  const { page, close } = await open('one.html');
  const timing = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domComplete);
  console.log(`     one.html: ${fs.statSync(path.join(folder, 'one.html')).size} bytes, complete after ${Math.round(timing)} ms (not judged)`);
  await close();
};

browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  for (const [name, widths] of [['one.html', [360, 800, 1600]], ['several.html', [360, 1600]], ['blocks.html', [1600]]]) {
    for (const width of widths) await looksRight(name, width);
    console.log('ok   looks right:', name, widths.join(', '));
  }
  for (const step of [isUsed, printsWhole, readsWithoutScripts, drawsTheStudy, drawsLatency, setsRunsSideBySide, opens]) {
    await step();
    console.log('ok  ', step.name);
  }
} finally {
  await browser.close();
}
