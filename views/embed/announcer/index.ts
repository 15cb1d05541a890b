// Tells the page around a frame how high the view in it would like to be: a message when that changes.

import type { AnnouncerAction, AnnouncerProps, Wanted } from "#generated/models";
import { component, type Tell } from "#shared/mount";

/** What is sent to the page around; it may come from any origin, and holds nothing of the program. */
interface Announcement {
  readonly source: "relaxscope";
  readonly view: string;
  readonly height: number;
}

/** The widest window in which the panes of a run stand below each other. */
const STACKED = 760;

class Announcer {
  private wanted: Wanted | null = null;
  private said = "";
  private readonly watcher = new ResizeObserver(() => this.announce());

  constructor(private readonly root: HTMLElement) {
    this.watcher.observe(document.documentElement);
  }

  setModel(model: Wanted): void {
    this.wanted = model;
    this.announce();
  }

  setProps(_props: AnnouncerProps): void {}

  private announce(): void {
    if (this.said && !this.root.isConnected) this.watcher.disconnect();
    else if (this.wanted && window.parent !== window) this.tell(this.wanted);
  }

  private tell({ view, height, stacked_height, picture_width, picture_height }: Wanted): void {
    const width = document.documentElement.clientWidth;
    const beside = width <= STACKED && stacked_height ? stacked_height : height;
    const scale = picture_width ? Math.min(1, width / picture_width) : 1;
    const announcement: Announcement = {
      source: "relaxscope",
      view,
      height: Math.ceil(beside + picture_height * scale),
    };
    const text = JSON.stringify(announcement);
    if (text !== this.said) window.parent.postMessage(announcement, "*");
    this.said = text;
  }
}

export default component("", (root, _tell: Tell<AnnouncerAction>) => new Announcer(root));
