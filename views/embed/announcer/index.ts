// Tells the page around a frame how high the view in it would like to be: a message when that changes. A page of paper
// has the size of the view, so that what is printed, as PDF, is one picture.

import type { AnnouncerAction, AnnouncerProps, Wanted } from "#generated/models";
import { el } from "#shared/dom";
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
  private readonly paper = el("style");
  private readonly watcher = new ResizeObserver(() => this.announce());

  constructor(private readonly root: HTMLElement) {
    this.watcher.observe(document.documentElement);
    document.head.append(this.paper);
  }

  setModel(model: Wanted): void {
    this.wanted = model;
    this.announce();
  }

  setProps(_props: AnnouncerProps): void {}

  private announce(): void {
    if (this.said && !this.root.isConnected) {
      this.watcher.disconnect();
      this.paper.remove();
    } else if (this.wanted) this.tell(this.wanted);
  }

  private tell(wanted: Wanted): void {
    const { clientWidth: width, clientHeight: shown } = document.documentElement;
    const announcement: Announcement = { source: "relaxscope", view: wanted.view, height: heightOf(wanted, width) };
    const text = JSON.stringify(announcement);
    if (text !== this.said && window.parent !== window) window.parent.postMessage(announcement, "*");
    this.said = text;
    const height = wanted.picture_height ? shown : Math.max(announcement.height, shown);
    this.paper.textContent = `@page{size:${width}px ${height}px;margin:0}`;
  }
}

function heightOf({ height, stacked_height, picture_width, picture_height }: Wanted, width: number): number {
  const beside = width <= STACKED && stacked_height ? stacked_height : height;
  const scale = picture_width ? Math.min(1, width / picture_width) : 1;
  return Math.ceil(beside + picture_height * scale);
}

export default component("", (root, _tell: Tell<AnnouncerAction>) => new Announcer(root));
