// What a page is told late, and a link that is followed before that.

import { type Delayed, later } from "./values";

/** Streamlit collects the values of a component for a moment before it sends them. */
const SEND_MS = 100;

/**
 * As `later`, for what the page is told: before a link to another page is followed, what waits is said and sent.
 *
 * A message of this page that came after that of the link would lead back to this page.
 */
export function laterOrOnLeaving(milliseconds: number, action: () => void): Delayed<[]> {
  let isWaiting = false;
  const run = () => {
    call.cancel();
    action();
  };
  const leave = (event: MouseEvent) => {
    const link = followed(event);
    if (!isWaiting || !link) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    run();
    window.setTimeout(() => link.click(), SEND_MS);
  };
  const timed = later(milliseconds, run);
  const call = () => {
    isWaiting = true;
    document.addEventListener("click", leave, true);
    timed();
  };
  call.cancel = () => {
    isWaiting = false;
    document.removeEventListener("click", leave, true);
    timed.cancel();
  };
  return call;
}

/** The link that a click follows in this tab. */
function followed(event: MouseEvent): HTMLAnchorElement | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return undefined;
  const link = event.composedPath().find((item) => item instanceof HTMLAnchorElement && item.href);
  return link instanceof HTMLAnchorElement && !link.target && !link.download ? link : undefined;
}
