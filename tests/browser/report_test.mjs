// Opens reports of gallery models in headless Chromium, at desktop and phone width, light and dark, with scripts and without:
//   node report_test.mjs APPELL [MODEL...]
// What must hold: no message on the console, nothing loaded, the animation shows something and moves, plots are drawn, arrows are
// there where constraints are, formulas are typeset, text can be selected, nothing is wider than the page. Pictures of what was
// seen go to $SHOTS, if set.
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const gallery = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../gallery");
const [appell, ...named] = process.argv.slice(2);
if (!appell) {
  console.error("usage: node report_test.mjs APPELL [MODEL...]");
  process.exit(2);
}
const models = named.length
  ? named
  : readdirSync(gallery).filter((file) => file.endsWith(".appell")).map((file) => path.basename(file, ".appell"))
      // functions without values are for claims: there is no run
      .filter((model) => !readFileSync(path.join(gallery, `${model}.appell`), "utf8").includes(" opaque")).sort();
// of the gallery these are looked at in every view, the others in one each, in turn
const closely = named.length ? named : ["perpendicular_pucks", "rolling_disk", "vibrating_incline_regimes"];
const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const views = [
  ["desktop_light", { ...desktop, colorScheme: "light" }],
  ["phone_dark", { ...phone, colorScheme: "dark" }],
  ["desktop_dark", { ...desktop, colorScheme: "dark" }],
  ["phone_light", { ...phone, colorScheme: "light" }],
];
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const problems = [];
const folder = mkdtempSync(path.join(tmpdir(), "appell_browser_"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});

async function open(file, options, check) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => {
    // the software renderer's remark about pictures being taken
    if (!message.text().includes("GPU stall due to ReadPixels")) check(false, `console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => check(false, `error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) check(false, `loads ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  return page;
}

// a page without the report's policy, to look at pictures
const looker = await browser.newPage();

// different colours in a picture of the canvas: an empty one has a single colour
async function colours(page, selector) {
  const png = await page.locator(selector).screenshot();
  return looker.evaluate(async (encoded) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${encoded}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const g = canvas.getContext("2d");
    g.drawImage(image, 0, 0);
    const { data } = g.getImageData(0, 0, image.width, image.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = `${data[i] >> 3},${data[i + 1] >> 3},${data[i + 2] >> 3}`;
      seen.set(key, (seen.get(key) || 0) + 1);
    }
    return { kinds: seen.size, ground: Math.max(...seen.values()) / (data.length / 4), picture: [...seen].sort().join(";") };
  }, png.toString("base64"));
}

async function scripted(file, model, options, name, check) {
  const page = await open(file, options, check);
  await page.waitForSelector(".view[data-ready]", { timeout: 20000 });
  await page.waitForTimeout(400);
  const data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));

  const before = await colours(page, ".view");
  check(before.kinds > 8, `the animation shows ${before.kinds} colours`);
  check(before.ground < 0.999, "the animation is empty");
  await page.evaluate(() => {
    const slider = document.querySelector(".player input");
    slider.value = 437;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.waitForTimeout(200);
  const after = await colours(page, ".view");
  check(before.picture !== after.picture, "the animation does not move with the slider");
  const arrows = await page.locator(".arrows label").count();
  const expected = data.scene.arrows.filter((a) => !(Array.isArray(a.v) && a.v.every((c) => c === 0))).length;
  check(arrows === Math.min(24, expected), `${arrows} arrows are listed, the data has ${expected}`);
  const acting = await page.evaluate(() => [...document.querySelectorAll(".arrows .size")].some((s) => parseFloat(s.textContent) !== 0));
  if (arrows && !model.includes("ball")) check(acting, "no arrow has any size");

  await page.locator(".player button.play").click();
  const t0 = await page.locator(".player output").textContent();
  await page.waitForTimeout(500);
  check(t0 !== (await page.locator(".player output").textContent()), "it does not play");
  await page.locator(".player button.play").click();

  for (const figure of await page.locator(".plots:not(details .plots) > .plot").all()) {
    await figure.scrollIntoViewIfNeeded();
    await page.waitForTimeout(120);
    check((await figure.getAttribute("data-drawn")) === "yes", "a plot is not drawn");
    const index = Number(await figure.getAttribute("data-plot"));
    const ink = await figure.locator("canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return seen.size;
    });
    check(ink > 3, `plot ${index} has ${ink} colours`);
    check((await figure.locator(".u-legend .u-series").count()) >= data.plots[index].traces.length, `plot ${index} lacks names`);
  }
  // a curve is switched off and on by its name; of a plot over time the first name is that of the time
  for (const kind of ["time", "path"]) {
    const index = data.plots.findIndex((plot) => plot.kind === kind);
    if (index < 0) continue;
    const name = page.locator(`[data-plot="${index}"] .u-legend .u-series`).nth(kind === "time" ? 1 : 0).locator("th");
    // of long lists some curves are off at first
    const off = async () => page.locator(`[data-plot="${index}"] .u-legend .u-off`).count();
    const first = await off();
    await name.click();
    check((await off()) === first + 1, `a curve of plot ${index} can not be switched off`);
    await name.click();
    check((await off()) === first, `a curve of plot ${index} can not be switched on`);
  }

  await page.locator("#equations").scrollIntoViewIfNeeded();
  await page.waitForTimeout(500);
  // of a large model the page has no equations, and says so
  const printed = (await page.locator("#equations .tex").count()) > 0;
  if (printed) check((await page.locator("#equations .katex").count()) > 0, "no formula is typeset");
  else check((await page.locator("#equations").innerText()).includes("appell derive"), "neither equations nor how to get them");
  const closed = page.locator("#equations details:not([open]) summary").first();
  if (await closed.count()) {
    // by the keyboard: formulas are typeset when they come near the screen, and a page that grows may be clicked beside it
    await closed.focus();
    await page.keyboard.press("Enter");
    const opened = page.locator("#equations details[open]").nth(1);
    const there = (what) => what.waitFor({ state: "attached", timeout: 15000 }).then(() => true, () => false);
    check(await there(opened), "another formulation does not open");
    if (await opened.count()) {
      await opened.locator("summary").scrollIntoViewIfNeeded();
      check(await there(opened.locator(".katex").first()), "another formulation is not typeset");
    }
  }
  const selected = await page.evaluate(() => {
    getSelection().selectAllChildren(document.querySelector("h1"));
    return getSelection().toString();
  });
  check(selected.length > 3, "text can not be selected");
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  check(wider <= 0, `the page is ${wider} px wider than the window`);

  const dark = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.locator(".theme").click();
  check(dark !== (await page.evaluate(() => document.documentElement.dataset.theme)), "the theme does not change");
  await page.locator(".theme").click();
  if (shots) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(200);
    await page.screenshot({ path: path.join(shots, `${model}_${name}.png`), fullPage: true });
  }
  await page.context().close();
}

async function unscripted(file, check) {
  const page = await open(file, { javaScriptEnabled: false, viewport: { width: 1000, height: 800 } }, check);
  const text = await page.locator("body").innerText();
  for (const part of ["Constraints", "Equations", "Run", "Model", "energy balance", "system "])
    check(text.includes(part), `without scripts there is no "${part}"`);
  check(!(await page.locator(".scripted").first().isVisible()), "what needs scripts is shown without them");
  for (const formula of (await page.locator("#equations .tex").all()).slice(0, 3))
    check((await formula.textContent()).length > 0, "formulas have no text without scripts");
  await page.context().close();
}

for (const model of models) {
  const out = path.join(folder, model);
  const begin = Date.now();
  try {
    execFileSync(appell, ["run", path.join(gallery, `${model}.appell`), "--out", out], { stdio: "pipe" });
  } catch (error) {
    // a run that ends early has its report all the same
  }
  const file = path.join(out, "report.html");
  const seconds = (Date.now() - begin) / 1000;
  const found = problems.length;
  const check = (holds, what) => {
    if (holds) return;
    problems.push(`${model}: ${what}`);
    console.error(problems[problems.length - 1]);
  };
  if (!existsSync(file)) {
    check(false, "there is no report");
    continue;
  }
  const size = statSync(file).size;
  check(size < 3e6, `the report has ${size} bytes`);
  check(readFileSync(file, "utf8").startsWith("<!DOCTYPE html>"), "no HTML");
  for (const [name, options] of closely.includes(model) ? views : [views[models.indexOf(model) % views.length]])
    await scripted(file, model, options, name, check);
  await unscripted(file, check);
  console.log(`${model}: ${problems.length === found ? "good" : "PROBLEMS"}, run and report ${seconds.toFixed(2)} s, ${Math.round(size / 1024)} KiB`);
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
process.exit(problems.length ? 1 : 0);
