// Builds the documentation as HTML: docs.mjs OUT
// Every page below docs/, README.md and tests/README.md become pages; files of the repository that they link to become pages of
// their text. The navigation is what docs/index.md lists. Formulas are typeset and code is coloured here, so that pages need no
// scripts but for the search and the choice of light and dark. Whatever is wrong (a dead link, a formula that does not
// parse, a page that the navigation misses) is listed, and the exit status is 1.
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import MarkdownIt from "markdown-it";
import katexPlugin from "@vscode/markdown-it-katex";
import katex from "katex";
import hljs from "highlight.js/lib/core";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import python from "highlight.js/lib/languages/python";
import bash from "highlight.js/lib/languages/bash";
import cmake from "highlight.js/lib/languages/cmake";
import makefile from "highlight.js/lib/languages/makefile";
import json from "highlight.js/lib/languages/json";
import MiniSearch from "minisearch";
import { appellLanguage } from "./docs/appell_language.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(here);
const out = path.resolve(process.argv[2] ?? path.join(root, "build/docs/html"));

const problems = [];
const read = (file) => readFile(path.join(root, file), "utf8");
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// ---- what there is

async function markdownBelow(folder) {
  const found = [];
  for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await markdownBelow(file)));
    else if (entry.name.endsWith(".md")) found.push(file);
  }
  return found.sort();
}

const sources = ["README.md", "tests/README.md", ...(await markdownBelow("docs"))];
// files that pages link to and that are no pages themselves, found while rendering
const listings = new Set();

// where a file of the repository goes
function place(file) {
  if (file.startsWith("docs/") && file.endsWith(".md")) return file.slice(5, -3) + ".html";
  if (file.endsWith(".md")) return "files/" + file.slice(0, -3) + ".html";
  if (file.startsWith("docs/images/")) return file.slice(5);
  return file.startsWith("gallery/") ? file + ".html" : "files/" + file + ".html";
}

const kind = async (file) => {
  try {
    const found = await stat(path.join(root, file));
    return found.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
};

// ---- text to HTML

const languageReference = await read("docs/language.md");
hljs.registerLanguage("c", c);
hljs.registerLanguage("cpp", cpp);
hljs.registerLanguage("python", python);
hljs.registerLanguage("sh", bash);
hljs.registerLanguage("cmake", cmake);
hljs.registerLanguage("make", makefile);
hljs.registerLanguage("json", json);
hljs.registerLanguage("appell", appellLanguage(languageReference));

const formula = (text, displayMode, where) => {
  try {
    return katex.renderToString(text, { displayMode, throwOnError: true, strict: "error" });
  } catch (error) {
    problems.push(`${where}: ${error.message}`);
    return escape(text);
  }
};

const md = new MarkdownIt({ html: false, linkify: false, typographer: false });
md.use(katexPlugin.default ?? katexPlugin, { katex });
// the plugin's rules find the formulas; a formula that does not parse must not pass as red text
md.renderer.rules.math_inline = (tokens, i, _, env) => formula(tokens[i].content, false, env.file);
md.renderer.rules.math_block = (tokens, i, _, env) => `<div class="formula">${formula(tokens[i].content, true, env.file)}</div>\n`;

md.renderer.rules.fence = (tokens, i, _, env) => {
  const [language, ...options] = tokens[i].info.trim().split(/\s+/);
  const text = tokens[i].content;
  if (language === "math") return `<div class="formula">${formula(text, true, env.file)}</div>\n`;
  const file = options.find((option) => option.startsWith("file="))?.slice(5);
  const label = file ? `<figcaption>${escape(file)}</figcaption>` : "";
  let code = escape(text);
  if (language && language !== "output" && language !== "text") {
    if (hljs.getLanguage(language)) code = hljs.highlight(text, { language }).value;
    else problems.push(`${env.file}: code in the language ${language}, which is not known here`);
  }
  return `<figure class="code ${language || "plain"}">${label}<pre tabindex="0"><code>${code}</code></pre></figure>\n`;
};
md.renderer.rules.table_open = () => '<div class="table"><table>\n';
md.renderer.rules.table_close = () => "</table></div>\n";

// anchors as code hosts make them
function slugs() {
  const seen = new Map();
  return (heading) => {
    const slug = heading.toLowerCase().replace(/ /g, "-").replace(/[^\p{L}\p{N}_-]/gu, "");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before ? `${slug}-${before}` : slug;
  };
}

// a link as it stands in a page, to one between the pages made; null where it leads nowhere
async function target(link, file) {
  if (/^[a-z]+:/.test(link)) return link;
  const [name, anchor] = link.split("#");
  const found = name ? path.posix.normalize(path.posix.join(path.posix.dirname(file), name)).replace(/\/$/, "") : file;
  const what = await kind(found);
  if (!what || found.startsWith("..")) return null;
  let there;
  if (what === "folder") {
    if (found === "docs/decisions") there = "decisions/index.html";
    else if (found === "docs") there = "index.html";
    else return null;
  } else {
    there = place(found);
    if (!found.endsWith(".md") && !found.startsWith("docs/images/")) listings.add(found);
  }
  const relative = path.posix.relative(path.posix.dirname(place(file)), there) || path.posix.basename(there);
  return anchor ? `${relative}#${anchor}` : relative;
}

// words without formulas, whose source nobody searches for
const plain = (token) =>
  (token.children ?? []).map((child) => (["text", "code_inline"].includes(child.type) ? child.content : child.type === "softbreak" ? " " : "")).join("");

// A page: its title, its HTML, its headings, and its sections as text for the search.
async function render(file, text) {
  const env = { file };
  const tokens = md.parse(text, env);
  const slug = slugs();
  const headings = [];
  const sections = [{ anchor: "", heading: "", text: "" }];
  for (let i = 0; i < tokens.length; ++i) {
    const token = tokens[i];
    if (token.type === "heading_open") {
      const words = plain(tokens[i + 1]);
      const anchor = slug(tokens[i + 1].content);
      token.attrSet("id", anchor);
      headings.push({ level: Number(token.tag[1]), anchor, text: words, html: md.renderer.renderInline(tokens[i + 1].children, md.options, env) });
      if (token.tag === "h1") sections[0].heading = words;
      else sections.push({ anchor, heading: words, text: "" });
    } else if (token.type === "inline") {
      if (tokens[i - 1].type !== "heading_open") sections.at(-1).text += " " + plain(token);
      for (const child of token.children) {
        const attribute = child.type === "link_open" ? "href" : child.type === "image" ? "src" : null;
        if (!attribute) continue;
        const link = await target(child.attrGet(attribute), file);
        if (link === null) problems.push(`${file}: a link to ${child.attrGet(attribute)}, which is not there`);
        else child.attrSet(attribute, link);
      }
    } else if (token.type === "fence") {
      sections.at(-1).text += " " + token.content;
    }
  }
  const title = headings.find((heading) => heading.level === 1);
  if (!title) problems.push(`${file}: no title`);
  // a heading can be linked to by a click on the sign behind it
  md.renderer.rules.heading_close = (list, i) => {
    const id = list[i - 2].attrGet("id");
    return ` <a class="here" href="#${id}" aria-label="link to this section">#</a></${list[i].tag}>\n`;
  };
  return { file, title: title?.text ?? file, html: md.renderer.render(tokens, md.options, env), headings, sections };
}

// ---- the frame around pages

const pages = [];
for (const file of sources) pages.push(await render(file, await read(file)));

const decisions = pages.filter((page) => page.file.startsWith("docs/decisions/"));
pages.push(
  await render(
    "docs/decisions/index.md",
    "# Decisions\n\nWhy Appell is as it is: what was chosen, for what reasons, at what price.\n\n" +
      decisions.map((page) => `- [${page.title}](${path.posix.basename(page.file)})`).join("\n") +
      "\n",
  ),
);

// the navigation: sections of the start page and the links of their lists
const start = pages.find((page) => page.file === "docs/index.md");
const navigation = [];
{
  const tokens = md.parse(await read("docs/index.md"), {});
  for (let i = 0; i < tokens.length; ++i) {
    if (tokens[i].type === "heading_open" && tokens[i].tag === "h2") navigation.push({ title: plain(tokens[i + 1]), links: [] });
    if (tokens[i].type !== "inline" || tokens[i - 2]?.type !== "list_item_open") continue;
    const open = tokens[i].children.findIndex((child) => child.type === "link_open");
    if (open < 0) continue;
    const link = tokens[i].children[open].attrGet("href");
    const there = path.posix.normalize(path.posix.join("docs", link.split("#")[0]));
    const file = there.endsWith("/") ? there + "index.md" : there;
    navigation.at(-1)?.links.push({ file, text: tokens[i].children[open + 1].content });
  }
}
const listed = new Set(navigation.flatMap((section) => section.links.map((link) => link.file)));
for (const page of pages)
  if (!listed.has(page.file) && page !== start && !page.file.startsWith("docs/decisions/") && page.file !== "README.md")
    problems.push(`${page.file}: not in the navigation, which is what docs/index.md lists`);
for (const file of listed)
  if (!pages.some((page) => page.file === file)) problems.push(`docs/index.md lists ${file}, which is no page`);

const sun =
  '<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><circle cx="12" cy="12" r="4.5"/><path d="M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.8 1.8M17.2 17.2 19 19M5 19l1.8-1.8M17.2 6.8 19 5"/></svg>';

function frame(page, body, { aside = "", footer = "" } = {}) {
  const own = place(page.file);
  const up = path.posix.relative(path.posix.dirname(own), "") || ".";
  const links = navigation
    .map(
      (section) =>
        `<p>${escape(section.title)}</p>\n<ul>` +
        section.links
          .map((link) => {
            const current = link.file === page.file ? ' aria-current="page"' : "";
            return `<li><a href="${up}/${place(link.file)}"${current}>${escape(link.text)}</a></li>`;
          })
          .join("\n") +
        "</ul>",
    )
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(page.title)} · Appell</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}/assets/katex/katex.min.css">
<link rel="stylesheet" href="${up}/assets/site.css">
<script src="${up}/assets/site.js" data-up="${up}"></script>
</head>
<body>
<a class="skip" href="#main">to the text</a>
<header>
<button id="menu" aria-label="contents" aria-expanded="false" aria-controls="contents">☰</button>
<a class="name" href="${up}/index.html">Appell</a>
<div class="search" role="search"><input id="query" type="search" placeholder="Search" aria-label="search the documentation" autocomplete="off"><div id="found" hidden></div></div>
<button id="theme" aria-label="light or dark">${sun}</button>
</header>
<div class="columns">
<nav id="contents" aria-label="pages">
${links}
</nav>
<main id="main">
${body}
${footer}
</main>
${aside}
</div>
</body>
</html>
`;
}

function contents(page) {
  const parts = page.headings.filter((heading) => heading.level === 2 || heading.level === 3);
  if (parts.filter((heading) => heading.level === 2).length < 2) return '<aside></aside>';
  const shown = parts.length > 24 ? parts.filter((heading) => heading.level === 2) : parts;
  return `<aside aria-label="on this page"><p>On this page</p><ul>${shown
    .map((heading) => `<li class="level${heading.level}"><a href="#${heading.anchor}">${heading.html}</a></li>`)
    .join("\n")}</ul></aside>`;
}

// the pages before and after, in the order of the navigation
function neighbours(page) {
  const order = navigation.flatMap((section) => section.links);
  const at = order.findIndex((link) => link.file === page.file);
  if (at < 0) return "";
  const up = path.posix.relative(path.posix.dirname(place(page.file)), "") || ".";
  const link = (entry, rel, sign) =>
    entry ? `<a rel="${rel}" href="${up}/${place(entry.file)}">${sign(escape(entry.text))}</a>` : "<span></span>";
  return `<footer>${link(order[at - 1], "prev", (text) => `← ${text}`)}${link(order[at + 1], "next", (text) => `${text} →`)}</footer>`;
}

// ---- write

await rm(out, { recursive: true, force: true });
const written = new Map();
async function write(file, text) {
  await mkdir(path.dirname(path.join(out, file)), { recursive: true });
  await writeFile(path.join(out, file), text);
  written.set(file, text);
}

for (const page of pages) await write(place(page.file), frame(page, page.html, { aside: contents(page), footer: neighbours(page) }));

for (const file of [...listings].sort()) {
  const text = await read(file);
  const language = file.endsWith(".appell") ? "appell" : /\.(cpp|hpp)$/.test(file) ? "cpp" : null;
  const code = language ? hljs.highlight(text, { language }).value : escape(text);
  const page = { file, title: path.posix.basename(file) };
  await write(place(file), frame(page, `<h1>${escape(file)}</h1>\n<figure class="code"><pre tabindex="0"><code>${code}</code></pre></figure>`, { aside: "<aside></aside>" }));
}

await mkdir(path.join(out, "assets/katex/fonts"), { recursive: true });
await cp(path.join(root, "docs/images"), path.join(out, "images"), { recursive: true });
for (const file of ["site.css", "site.js"]) await cp(path.join(here, "docs", file), path.join(out, "assets", file));
const katexFolder = path.join(here, "node_modules/katex/dist");
await cp(path.join(katexFolder, "katex.min.css"), path.join(out, "assets/katex/katex.min.css"));
for (const font of await readdir(path.join(katexFolder, "fonts")))
  if (font.endsWith(".woff2")) await cp(path.join(katexFolder, "fonts", font), path.join(out, "assets/katex/fonts", font));
await cp(path.join(here, "node_modules/minisearch/dist/umd/index.js"), path.join(out, "assets/minisearch.js"));

// pages opened from a disk may not fetch files, but may load scripts: the index is one
const documents = [];
for (const page of pages)
  for (const section of page.sections)
    documents.push({
      id: documents.length,
      page: page.title,
      heading: section.heading,
      at: place(page.file) + (section.anchor ? "#" + section.anchor : ""),
      text: section.text.replace(/\s+/g, " ").trim(),
    });
const index = new MiniSearch({ fields: ["heading", "page", "text"], storeFields: ["page", "heading", "at", "text"] });
index.addAll(documents);
await write("assets/search_index.js", `window.appellSearchIndex = ${JSON.stringify(JSON.stringify(index))};\n`);

// ---- every link of what was written leads somewhere

const ids = new Map();
const dead = new Set();
for (const [file, text] of written) ids.set(file, new Set([...text.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1])));
for (const [file, text] of written) {
  if (!file.endsWith(".html")) continue;
  for (const [, link] of text.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    if (/^(data|https?|mailto):/.test(link)) continue;
    const [name, anchor] = link.split("#");
    const there = name ? path.posix.normalize(path.posix.join(path.posix.dirname(file), name)) : file;
    if (dead.has(there)) continue; // told once: the navigation is on every page
    if (!(await stat(path.join(out, there)).then(() => true, () => false))) {
      dead.add(there);
      problems.push(`${file}: a dead link to ${link}`);
    }
    else if (anchor && !ids.get(there)?.has(decodeURIComponent(anchor))) problems.push(`${file}: no place ${anchor} in ${there}`);
  }
}

for (const problem of problems) console.error(`docs: ${problem}`);
if (problems.length) process.exit(1);
console.log(`${written.size - 1} pages in ${path.relative(process.cwd(), out) || "."}/index.html`);
