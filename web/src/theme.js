// Light and dark: the system's choice, until the reader makes another.
const listeners = [];
const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const onTheme = (listener) => listeners.push(listener);
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function apply() {
  document.documentElement.dataset.theme = chosen || (system.matches ? "dark" : "light");
  for (const listener of listeners) listener();
}

export function startTheme(nav) {
  const button = document.createElement("button");
  button.className = "theme";
  button.type = "button";
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    apply();
  });
  onTheme(name);
  system.addEventListener("change", apply);
  apply();
  const spacer = document.createElement("span");
  spacer.className = "spacer";
  nav.append(spacer, button);
}
