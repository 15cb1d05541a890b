// Keeps a text in the storage of the browser or of its tab, and tells the page once what was there.

import type { KeeperAction, KeeperProps, Kept } from "#generated/models";
import { component, type Tell } from "#shared/mount";

const keyOf = (model: Kept): string => `relaxscope.${model.name}`;
const storageOf = (model: Kept): Storage => (model.is_of_tab ? sessionStorage : localStorage);

/** Reads the storage; a browser that forbids it has kept nothing. */
function stored(model: Kept): string {
  try {
    return storageOf(model).getItem(keyOf(model)) ?? "";
  } catch {
    return "";
  }
}

class Keeper {
  private hasTold = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<KeeperAction>,
  ) {}

  setModel(model: Kept): void {
    if (!model.text) {
      // The page does not know yet: a session that begins anew, or a browser that has kept nothing.
      if (!this.hasTold) this.tell({ kind: "kept", text: stored(model) });
      this.hasTold = true;
      return;
    }
    try {
      storageOf(model).setItem(keyOf(model), model.text);
      this.root.dataset.kept = String(model.text.length);
    } catch {
      // The page goes on with what the session has.
    }
  }

  setProps(_props: KeeperProps): void {}
}

export default component("", (root, tell: Tell<KeeperAction>) => new Keeper(root, tell));
