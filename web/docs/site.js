// Light and dark, the menu of small screens, and the search. Pages are readable without.
(() => {
  const script = document.currentScript;
  const up = script.dataset.up;
  const stored = () => {
    try {
      return localStorage.getItem("appell-theme");
    } catch {
      return null;
    }
  };
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = stored() ?? (dark() ? "dark" : "light");
  document.documentElement.dataset.theme = theme;

  const load = (name) =>
    new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = `${up}/assets/${name}`;
      element.onload = resolve;
      element.onerror = reject;
      document.head.append(element);
    });
  // loaded when somebody searches
  let engine;
  const search = () =>
    (engine ??= Promise.all([load("minisearch.js"), load("search_index.js")]).then(() =>
      MiniSearch.loadJSON(window.appellSearchIndex, { fields: ["heading", "page", "text"], storeFields: ["page", "heading", "at", "text"] }),
    ));

  // some words around the first one that was found
  const excerpt = (text, terms) => {
    const words = text.split(" ");
    const at = words.findIndex((word) => terms.some((term) => word.toLowerCase().includes(term)));
    const from = Math.max(0, at - 6);
    const shown = words.slice(from, from + 24);
    return (from > 0 ? "… " : "") + shown.join(" ") + (from + shown.length < words.length ? " …" : "");
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try {
        localStorage.setItem("appell-theme", next);
      } catch {
        // a browser that keeps nothing for files: the choice lasts for this page
      }
    });

    const menu = document.getElementById("menu");
    menu.addEventListener("click", () => {
      const open = document.body.classList.toggle("menu-open");
      menu.setAttribute("aria-expanded", String(open));
    });
    document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: "nearest" });

    const query = document.getElementById("query");
    const found = document.getElementById("found");
    const show = async () => {
      const words = query.value.trim();
      found.hidden = words === "";
      if (found.hidden) return;
      const results = (await search()).search(words, { prefix: true, fuzzy: 0.15, boost: { heading: 4, page: 2 }, combineWith: "AND" });
      if (query.value.trim() !== words) return;
      found.replaceChildren(
        ...results.slice(0, 12).map((result) => {
          const link = document.createElement("a");
          link.href = `${up}/${result.at}`;
          const title = document.createElement("b");
          title.textContent = result.heading && result.heading !== result.page ? `${result.page}: ${result.heading}` : result.page;
          const text = document.createElement("span");
          text.textContent = excerpt(result.text, result.terms);
          link.append(title, text);
          return link;
        }),
      );
      if (!results.length) found.textContent = "nothing found";
    };
    query.addEventListener("input", show);
    query.addEventListener("focus", show);
    addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !typing) {
        event.preventDefault();
        query.focus();
      } else if (event.key === "Escape") {
        found.hidden = true;
        query.blur();
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !found.hidden) {
        const links = [...found.querySelectorAll("a")];
        const at = links.indexOf(document.activeElement);
        const next = links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? (event.key === "ArrowUp" ? query : null);
        if (next) {
          event.preventDefault();
          next.focus();
        }
      } else if (event.key === "Enter" && document.activeElement === query) {
        found.querySelector("a")?.click();
      }
    });
    addEventListener("click", (event) => {
      if (!event.target.closest(".search")) found.hidden = true;
    });
  });
})();
