// The modelling language for highlight.js: its words are read from the reference page, which is made from the program's own schema.
export function appellLanguage(reference) {
  const statements = [...reference.matchAll(/^#### `(\w+)`/gm)].map((match) => match[1]);
  const part = (from, to) => reference.slice(reference.indexOf(from), reference.indexOf(to));
  const functions = [...part("### Functions", "### Integrators").matchAll(/^\| `(\w+)\(/gm)].map((match) => match[1]);
  // words inside statements: those in small letters of the statements' forms
  const forms = [...part("### Statements", "### Functions").matchAll(/```\n([\s\S]*?)```/g)].map((match) => match[1]).join(" ");
  const inner = [...new Set(forms.match(/\b[a-z_]{2,}\b/g))];
  if (statements.length < 30 || functions.length < 40) throw new Error("docs/language.md has no tables of statements and functions");
  return () => ({
    name: "Appell",
    contains: [
      { scope: "comment", begin: "#", end: "$" },
      { scope: "string", begin: '"', end: '"' },
      { scope: "keyword", match: new RegExp(`^[ \\t]*(${statements.join("|")})\\b`, "m") },
      { scope: "keyword", match: /=>/ },
      // a number and its unit
      { scope: "number", match: /(?<![\w.])(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?( (?!(about|by|for|in|and|or|where)\b)[a-zA-Z]+(\^-?\d+)?([*/][a-zA-Z]+(\^-?\d+)?)*(?!['.(\w]))?/ },
      { scope: "built_in", match: new RegExp(`\\b(${functions.join("|")})(?=\\()`) },
      { scope: "attr", match: new RegExp(`(?<![.\\w])(${inner.join("|")})(?![\\w'.(\\[])(?= )`) },
    ],
  });
}
