// What a component does to the page around it: its history, and the height of the rows above the panes.

// Streamlit adds an entry to the history for every query parameter that changes. Only another page, program or
// pipeline is somewhere to go back to: what else changes is written over the entry that there is.
const DESTINATION = ["sample", "module", "pipeline"];

/** Whether an address is somewhere else than another, and not the same page in another state. */
export function isElsewhere(to: URL, from: URL): boolean {
  if (to.pathname !== from.pathname) return true;
  // A page opens without parameters and then writes its own.
  if (!from.search || !to.search) return false;
  return DESTINATION.some((name) => to.searchParams.get(name) !== from.searchParams.get(name));
}

export function keepHistoryShort(): void {
  if (window.relaxscopeHistory) return;
  const push = history.pushState.bind(history);
  window.relaxscopeHistory = push;
  history.pushState = (state, title, url) => {
    const isNext = !url || isElsewhere(new URL(url, location.href), new URL(location.href));
    return isNext ? push(state, title, url) : history.replaceState(state, title, url);
  };
}

// The rows above the panes take what height they need; `--bar` tells the panes.
const ROWS_ABOVE = ".st-key-ctx,.st-key-tour";
const rowsSeen = new WeakSet<Element>();
let rowsObserver: ResizeObserver | undefined;

export function watchRowsAbove(): void {
  rowsObserver ??= new ResizeObserver(tellHeight);
  for (const row of document.querySelectorAll(ROWS_ABOVE)) {
    if (!rowsSeen.has(row)) rowsObserver.observe(row);
    rowsSeen.add(row);
  }
}

function tellHeight(): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS_ABOVE)];
  const height = rows.reduce((sum, row) => sum + row.offsetHeight, 0);
  if (rows.length) document.documentElement.style.setProperty("--bar", `${height}px`);
}
