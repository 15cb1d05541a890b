// Light or dark: components follow the notebook that they stand in, and not the system, which may be set otherwise.

/** What a page says of its mode, as far as it concerns us. */
export interface Said {
  /** JupyterLab and Notebook 7. */
  readonly jupyter: string | undefined;
  /** Visual Studio Code: `vscode-light`, `vscode-dark`, `vscode-high-contrast`, `vscode-high-contrast-light`. */
  readonly code: string | undefined;
  /** Colab. */
  readonly theme: string | null;
  /** The backgrounds of the elements around, the nearest first, as computed. */
  readonly backgrounds: readonly string[];
  readonly isSystemDark: boolean;
}

const HALF = 128;

export function isDark({ jupyter, code, theme, backgrounds, isSystemDark }: Said): boolean {
  if (jupyter) return jupyter === "false";
  if (code) return code !== "vscode-light" && code !== "vscode-high-contrast-light";
  if (theme) return theme === "dark";
  for (const text of backgrounds) {
    const [red = 0, green = 0, blue = 0, alpha = 1] = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    if (alpha > 0) return 0.299 * red + 0.587 * green + 0.114 * blue < HALF;
  }
  return isSystemDark;
}

function backgroundsAround(element: Element): string[] {
  const found: string[] = [];
  for (let at = element.parentElement; at; at = at.parentElement) found.push(getComputedStyle(at).backgroundColor);
  return found;
}

/** Keeps an element in the mode of the page; what is returned ends that. */
export function followMode(element: HTMLElement): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const said = {
      jupyter: document.body.dataset.jpThemeLight,
      code: document.body.dataset.vscodeThemeKind,
      theme: document.documentElement.getAttribute("theme"),
      backgrounds: backgroundsAround(element),
      isSystemDark: system.matches,
    };
    element.style.colorScheme = isDark(said) ? "dark" : "light";
  };
  // The background is known once the element is in the page.
  const first = requestAnimationFrame(follow);
  const changes = new MutationObserver(follow);
  for (const root of [document.body, document.documentElement]) changes.observe(root, { attributes: true });
  system.addEventListener("change", follow);
  follow();
  return () => {
    cancelAnimationFrame(first);
    changes.disconnect();
    system.removeEventListener("change", follow);
  };
}
