// The chip of a class: asks the server for news of it, and tells the page when they concern more than the chip.

import type { News, NewsAction, NewsModel, NewsProps } from "#generated/models";
import { el } from "#shared/dom";
import { component, type Tell } from "#shared/mount";

const ADDRESS = "class-news";
// A page that was told may have been made by a run that began before the news: it is told again after so many answers.
const PATIENCE = 5;

class ClassNews {
  private model: NewsModel | null = null;
  private timer = 0;
  private isAsking = false;
  private waited = 0;
  private readonly chip = el("span", { class: "chip accent", role: "status", "aria-live": "off" });

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<NewsAction>,
  ) {
    root.append(this.chip);
  }

  setModel(model: NewsModel): void {
    this.model = model;
    this.waited = 0;
    this.chip.textContent = model.news.words;
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.ask(), model.seconds * 1000);
  }

  setProps(_props: NewsProps): void {}

  private async ask(): Promise<void> {
    if (!this.root.isConnected) return clearInterval(this.timer);
    if (this.isAsking || !this.model) return;
    this.isAsking = true;
    try {
      const body = JSON.stringify(this.model.asker);
      const answer = await fetch(new URL(ADDRESS, document.baseURI), { method: "POST", body });
      if (answer.ok) this.hear((await answer.json()) as News);
    } catch {
      // The server is away: the page says so, and the next question is asked all the same.
    } finally {
      this.isAsking = false;
    }
  }

  private hear(news: News): void {
    if (news.words) this.chip.textContent = news.words;
    if (news.mark === this.model?.news.mark) return;
    if (this.waited === 0) this.tell({ kind: "news" });
    this.waited = (this.waited + 1) % PATIENCE;
  }
}

export default component("", (root, tell: Tell<NewsAction>) => new ClassNews(root, tell));
