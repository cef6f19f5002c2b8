// Opens the documentation's pages from the disk in headless Chromium, at desktop and phone width, light and dark, with scripts
// and without:  node docs_test.mjs HTML_FOLDER
// What must hold: no message on the console, nothing loaded from elsewhere, nothing wider than the page, formulas in their fonts,
// colours that differ from the ground, a search that finds and leads there, a menu on phones. Pictures go to $SHOTS, if set.
import { chromium } from "playwright-core";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
if (!folder) {
  console.error("usage: node docs_test.mjs HTML_FOLDER");
  process.exit(2);
}
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const problems = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

const pages = readdirSync(folder, { recursive: true })
  .map((file) => file.split(path.sep).join("/"))
  .filter((file) => file.endsWith(".html") && !file.startsWith("gallery/") && !file.startsWith("decisions/0"))
  .sort();

const sizes = { desktop: { width: 1400, height: 1000 }, phone: { width: 390, height: 844 } };
const few = ["index.html", "tutorial/index.html", "theory/formulations.html", "language.html"];
for (const [size, viewport] of Object.entries(sizes))
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme });
    // every page once at each width and once in each scheme, some in all four ways
    const all = (size === "desktop") === (colorScheme === "light") || shots;
    for (const file of all ? pages : few) {
      const check = (holds, what) => holds || problems.push(`${file}, ${size}, ${colorScheme}: ${what}`);
      const page = await context.newPage();
      page.on("console", (message) => check(false, `console ${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => check(false, `error: ${error.message}`));
      page.on("requestfailed", (request) => check(false, `could not load ${request.url()}`));
      page.on("request", (request) => check(/^(file|data|blob):/.test(request.url()), `loads ${request.url()}`));
      await page.goto(pathToFileURL(path.join(folder, file)).href);
      const seen = await page.evaluate(async () => {
        await document.fonts.ready;
        const main = document.querySelector("main");
        const style = getComputedStyle(document.body);
        return {
          excess: document.documentElement.scrollWidth - innerWidth,
          text: main.innerText.length,
          theme: document.documentElement.dataset.theme,
          colours: [style.color, style.backgroundColor],
          formulas: document.querySelectorAll(".katex").length,
          fonts: [...document.fonts].filter((font) => font.family.startsWith("KaTeX") && font.status === "loaded").length,
        };
      });
      check(seen.excess <= 0, `${seen.excess} pixels wider than the window`);
      check(seen.text > 200, "hardly any text");
      check(seen.theme === colorScheme, `theme ${seen.theme}`);
      check(seen.colours[0] !== seen.colours[1], "text in the colour of its ground");
      check(!seen.formulas || seen.fonts > 0, "formulas without their fonts");
      if (shots) await page.screenshot({ path: path.join(shots, `${file.replace(/\W/g, "_")}_${size}_${colorScheme}.png`), fullPage: size === "phone" });
      await page.close();
    }
    await context.close();
  }

// search, menu, theme: what a reader does
for (const [size, viewport] of Object.entries(sizes)) {
  const check = (holds, what) => holds || problems.push(`${size}: ${what}`);
  const page = await browser.newPage({ viewport });
  page.on("console", (message) => check(false, `console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => check(false, `error: ${error.message}`));
  await page.goto(pathToFileURL(path.join(folder, "tutorial/index.html")).href);
  for (const [words, title] of [["E0808", "E0808"], ["redundant rows", "redundan"], ["Voronec", "voronec"]]) {
    await page.fill("#query", words);
    await page.waitForSelector("#found a");
    const first = await page.locator("#found a b").first().innerText();
    check(first.toLowerCase().includes(title.toLowerCase()), `a search for ${words} finds "${first}" first`);
  }
  const box = await page.locator("#found").boundingBox();
  check(box.x >= 0 && box.x + box.width <= viewport.width, "what was found is wider than the window");
  if (shots) await page.screenshot({ path: path.join(shots, `search_${size}.png`) });
  await page.fill("#query", "no such words anywhere");
  await page.waitForFunction(() => document.getElementById("found").textContent === "nothing found");
  await page.fill("#query", "E0808");
  await page.waitForSelector("#found a");
  await page.press("#query", "Enter");
  await page.waitForURL(/diagnostics\.html#e0808$/);
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.click("#theme");
  const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(before !== after, "the button changes nothing");
  if (size === "phone") {
    check(!(await page.isVisible("nav")), "the menu is open from the start");
    await page.click("#menu");
    check(await page.isVisible("nav"), "the menu does not open");
    if (shots) await page.screenshot({ path: path.join(shots, "menu_phone.png") });
  } else {
    check(await page.isVisible('nav [aria-current="page"]'), "the navigation does not show where one is");
  }
  await page.close();
}

// without scripts the text is there
const silent = await browser.newContext({ javaScriptEnabled: false, colorScheme: "dark", viewport: sizes.desktop });
const still = await silent.newPage();
await still.goto(pathToFileURL(path.join(folder, "theory/formulations.html")).href);
if (!(await still.isVisible(".katex")) || !(await still.isVisible("nav"))) problems.push("without scripts the page is not whole");

await browser.close();
for (const problem of problems) console.error(problem);
console.log(`${pages.length} pages, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
