// Keys that work wherever the focus is: who gets them, and when they belong to something else.

import { houseOf } from "./guest";

/** Whether a key belongs to something that is typed into. */
export function isTyping(event: Event): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  return (
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || (target instanceof HTMLElement && target.isContentEditable)
  );
}

export function isDialogOpen(): boolean {
  return document.querySelector("[role=dialog],[aria-modal=true]") !== null;
}

/** Whether a key is pressed with a modifier that makes it the browser's. */
export function isModified(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

const owners = new Map<string, Element>();

/**
 * Listens on the document while `root` is on the page; of several mounted under a name the newest gets the keys. Those of
 * a guest in another page are its own only while the focus is in its box.
 */
export function onKeys(name: string, root: Element, handle: (event: KeyboardEvent) => boolean): void {
  owners.set(name, root);
  const listener = (event: KeyboardEvent) => {
    if (!root.isConnected) {
      document.removeEventListener("keydown", listener, true);
      return;
    }
    if (!isOwner(name, root, event) || isTyping(event) || isModified(event) || isDialogOpen()) return;
    if (handle(event)) consume(event);
  };
  document.addEventListener("keydown", listener, true);
}

function isOwner(name: string, root: Element, event: Event): boolean {
  const house = houseOf(root);
  return house === document ? owners.get(name) === root : event.composedPath().includes(house);
}

/** Keeps an event from the browser and from everyone else. */
export function consume(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Calls the action that a table has for the key of an event, and tells whether it has one. */
export function act(event: KeyboardEvent, actions: Readonly<Record<string, () => void>>): boolean {
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  action?.();
  return action !== undefined;
}

/** The number that a table has for the key of an event; 0 for any other key. */
export function stepOf(event: KeyboardEvent, steps: Readonly<Record<string, number>>): number {
  return (Object.hasOwn(steps, event.key) && steps[event.key]) || 0;
}

/** `?` shows the keys: it belongs to the page's bar, which has no key of this kind. */
export function offerHelp(): void {
  if (window.relaxscopeKeys) return;
  window.relaxscopeKeys = (event) => {
    if (event.key !== "?" || isTyping(event) || document.querySelector("[role=dialog]")) return;
    document.querySelector<HTMLElement>(".st-key-bar-keys button")?.click();
  };
  document.addEventListener("keydown", window.relaxscopeKeys);
}
