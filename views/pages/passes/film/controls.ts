// What a film is played with: play and pause, one stage back and forth, a slider over all stages, the speed.

import type { Film } from "#generated/models";
import { button, choice } from "#shared/controls";
import { el, replace } from "#shared/dom";
import { type Moment, type Player, SPEEDS, type Speed } from "./player";

const SPEED_NAMES = SPEEDS.map((speed) => [speed, `${speed}×`] as const);

export class Controls {
  readonly element = el("div", { class: "player", role: "group", "aria-label": "Film" });
  private readonly play = button("▶", "i p", "", () => this.player.toggle());
  private readonly back = button("‹", "i", "", () => this.player.step(-1), { "aria-label": "Stage before" });
  private readonly forth = button("›", "i", "", () => this.player.step(1), { "aria-label": "Stage after" });
  private readonly slider = el("input", { type: "range", min: 0, "aria-label": "Stage" });
  private readonly ticks = el("span", { class: "ticks", "aria-hidden": "true" });
  private readonly place = el("span", { class: "place muted" });
  private readonly speed = choice<Speed>("Speed", SPEED_NAMES, "1", (speed) => this.player.setSpeed(speed));

  constructor(private readonly player: Player) {
    this.slider.addEventListener("input", () => this.player.go(Number(this.slider.value)));
    const track = el("span", { class: "track" }, this.slider, this.ticks);
    this.element.append(this.back, this.play, this.forth, track, this.place, this.speed);
  }

  /** Marks the stages that change something on the slider. */
  take(film: Film): void {
    const last = film.stages.length - 1;
    this.slider.max = String(last);
    const tick = (index: number) => el("i", { style: { left: `${(100 * index) / Math.max(1, last)}%` } });
    replace(
      this.ticks,
      film.stages.map(([, , isChanged], index) => isChanged && tick(index)),
    );
  }

  show(film: Film, { stage, isPlaying }: Moment): void {
    const last = film.stages.length - 1;
    const [name = ""] = film.stages[stage] ?? [];
    this.play.firstChild?.replaceWith(isPlaying ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
    this.play.title = `${isPlaying ? "Pause" : "Play"} (Space)`;
    this.back.disabled = stage === 0;
    this.forth.disabled = stage === last;
    this.slider.value = String(stage);
    this.slider.setAttribute("aria-valuetext", `${stage} ${name}`);
    replace(this.place, `${stage} of ${last}`);
  }
}
