// Formulas, typeset when they come near the screen: a page may have hundreds.
import katex from "katex";

function typeset(element) {
  const display = element.classList.contains("display");
  const text = element.textContent;
  try {
    katex.render(element.dataset.tex, element, { displayMode: display, throwOnError: true, strict: "ignore", output: "html" });
    element.classList.add("typeset");
    element.title = "";
    // for those who hear the page, and for copying
    element.setAttribute("role", "math");
    element.setAttribute("aria-label", text);
  } catch (error) {
    element.textContent = text;
    console.warn("formula not typeset:", element.dataset.tex, error.message);
  }
}

export function startFormulas() {
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        typeset(entry.target);
      }
    },
    { rootMargin: "600px" },
  );
  for (const element of document.querySelectorAll(".tex")) {
    if (element.dataset.tex) near.observe(element);
  }
}
