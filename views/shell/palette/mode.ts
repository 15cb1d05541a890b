// Light or dark: Streamlit reads what it is to be from the browser's storage when a page is loaded, for each path.

const VERSION = 2;
const LOST = "The page is loaded anew, and this screen has more than its address holds: that is lost. Go on?";

export function isDark(): boolean {
  const app = document.querySelector(".stApp");
  return app !== null && getComputedStyle(app).colorScheme === "dark";
}

/** Shows all pages in the other mode from now on, this one at once. */
export function switchMode(pages: readonly string[]): void {
  const isWhole = !new URL(location.href).searchParams.has("left_out");
  if (!isWhole && !window.confirm(LOST)) return;
  const mode = JSON.stringify(isDark() ? "Light" : "Dark");
  const base = location.pathname.replace(/[^/]*$/, "");
  try {
    for (const page of ["", ...pages]) localStorage.setItem(`stActiveTheme-${base}${page}-v${VERSION}`, mode);
  } catch {
    // A browser that forbids its storage shows what its system does.
    return;
  }
  location.reload();
}
