// Bundles the report's scripts and styles into dist/, which is committed: whoever builds Appell needs no node.
//   node build.mjs          writes dist/
//   node build.mjs --check  fails if dist/ is not what the sources give
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes("--check");

// Of KaTeX's fonts those that equations of motion use, and of their formats the one that every browser of today reads.
const fonts = /^KaTeX_(AMS-Regular|Main-(Regular|Bold|Italic)|Math-(Italic|BoldItalic)|Size[1-4]-Regular)\.woff2$/;

const katexStyles = {
  name: "katex-styles",
  setup(build) {
    build.onLoad({ filter: /katex\.min\.css$|katex\.css$/ }, async (args) => {
      let css = await readFile(args.path, "utf8");
      const faces = css.match(/@font-face\s*\{[^}]*\}/g);
      for (const face of faces) {
        const file = path.basename(face.match(/url\(([^)]*\.woff2)\)/)[1]);
        if (!fonts.test(file)) {
          css = css.replace(face, "");
          continue;
        }
        const bytes = await readFile(path.join(path.dirname(args.path), "fonts", file));
        const source = `src:url(data:font/woff2;base64,${bytes.toString("base64")}) format("woff2")`;
        css = css.replace(face, face.replace(/src:[^;}]*/, source));
      }
      return { contents: css, loader: "css" };
    });
  },
};

// every report is a copy of the packages, so that each has their notice
const notice = (await readFile(path.join(here, "src/notice.txt"), "utf8")).trim();

const result = await build({
  absWorkingDir: here,
  entryPoints: { report: "src/report.js" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2020"],
  charset: "ascii",
  legalComments: "none", // the notice has them all
  banner: { js: notice },
  loader: { ".woff2": "dataurl" },
  plugins: [katexStyles],
  write: false,
  logLevel: "warning",
});

const files = result.outputFiles.map((file) => ({
  path: file.path,
  // the end of a script element must not stand in a script, nor the end of a style element in a style
  text: file.text.replace(/<\/(script|style)/gi, "<\\/$1").replace(/<!--/g, "<\\!--"),
}));
// the page allows this script alone, by its hash
const script = files.find((file) => file.path.endsWith(".js"));
files.push({ path: path.join(here, "dist/report.hash"), text: `sha256-${createHash("sha256").update(script.text).digest("base64")}` });

let different = 0;
for (const { path: target, text } of files) {
  const name = path.relative(here, target);
  if (check) {
    const committed = await readFile(target, "utf8").catch(() => "");
    if (committed !== text) {
      console.error(`${name} is not what web/src and the pinned packages give: run \`npm run build\` in web/`);
      different++;
    }
  } else {
    await writeFile(target, text);
    console.log(`${name}  ${Math.ceil(text.length / 1024)} KiB`);
  }
}
process.exit(different ? 1 : 0);
