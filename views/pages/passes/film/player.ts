// What a film shows at which time: a state without the page, and the clock that moves it.

import { between } from "#shared/values";

export interface Moment {
  readonly stage: number;
  readonly isPlaying: boolean;
  readonly speed: Speed;
}

export const SPEEDS = ["0.5", "1", "2", "4"] as const;
export type Speed = (typeof SPEEDS)[number];

// A stage in which something comes or goes is looked at; one that leaves the graph as it is passes by.
const CHANGED_MS = 1600;
const UNCHANGED_MS = 500;

/** How long a stage is shown while the film plays. */
export function restOf(isChanged: boolean, speed: Speed): number {
  return (isChanged ? CHANGED_MS : UNCHANGED_MS) / Number(speed);
}

/** The moment in which another stage was asked for: the film stands still there. */
export function at(moment: Moment, stage: number, count: number): Moment {
  return { ...moment, stage: between(0, stage, count - 1), isPlaying: false };
}

/** Plays on from where the film stands, from the start if that is its end; or stops it. */
export function toggled(moment: Moment, count: number): Moment {
  if (moment.isPlaying || count < 2) return { ...moment, isPlaying: false };
  return { ...moment, isPlaying: true, stage: moment.stage === count - 1 ? 0 : moment.stage };
}

/** The moment that follows while the film plays: it stops at the last stage. */
export function next(moment: Moment, count: number): Moment {
  const stage = between(0, moment.stage + 1, count - 1);
  return { ...moment, stage, isPlaying: moment.isPlaying && stage < count - 1 };
}

/** Moves a film on for as long as it plays, and tells of each of its moments. */
export class Player {
  private now: Moment = { stage: 0, isPlaying: false, speed: "1" };
  private timer = 0;
  private isChanged: readonly boolean[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly show: (moment: Moment) => void,
  ) {}

  get moment(): Moment {
    return this.now;
  }

  /** Takes another film, of which is told at which stages something changes. */
  take(isChanged: readonly boolean[]): void {
    this.isChanged = isChanged;
    this.now = at(this.now, this.now.stage, isChanged.length);
    window.clearTimeout(this.timer);
  }

  go(stage: number): void {
    this.become(at(this.now, stage, this.isChanged.length));
  }

  step(by: number): void {
    this.go(this.now.stage + by);
  }

  toggle(): void {
    this.become(toggled(this.now, this.isChanged.length));
  }

  setSpeed(speed: Speed): void {
    this.become({ ...this.now, speed });
  }

  private become(moment: Moment): void {
    this.now = moment;
    window.clearTimeout(this.timer);
    if (moment.isPlaying) {
      const rest = restOf(this.isChanged[moment.stage] ?? false, moment.speed);
      this.timer = window.setTimeout(
        () => this.root.isConnected && this.become(next(this.now, this.isChanged.length)),
        rest,
      );
    }
    this.show(moment);
  }
}
