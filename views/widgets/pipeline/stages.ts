// Which stages of a pipeline are shown, and what is said of them.

import type { Pipeline, PipelineProps, Severity, Stage, StageVerdict } from "#generated/models";

/** What decides whether a stage is shown. */
export interface Listing {
  readonly model: Pipeline;
  readonly props: PipelineProps;
  readonly current: number;
  readonly isHiding: boolean;
}

/** A stage that is shown, or how many are not, and what they have in common. */
export type Row = { readonly stage: Stage } | { readonly hidden: number; readonly words: string };

export function verdictOf(props: PipelineProps, index: number): StageVerdict | undefined {
  return props.verdicts.find(([stage]) => stage === index);
}

export function isSuspect(props: PipelineProps, index: number): boolean {
  return props.suspects.includes(index);
}

export function isFailed(stage: Stage): boolean {
  return stage.problems.some((problem) => problem.severity === "error");
}

export function isHidden(listing: Listing, stage: Stage): boolean {
  return stage.index !== listing.current && (isFollower(listing, stage.index) || isUnchanged(listing, stage));
}

function isUnchanged({ model, props, isHiding }: Listing, stage: Stage): boolean {
  const isEnd = stage.index === 0 || stage.index === model.stages.length - 1;
  return isHiding && !stage.is_changed && !isSuspect(props, stage.index) && !stage.problems.length && !isEnd;
}

// A stage that only shows the difference, or the reason, that another one brought.
function isFollower({ props, isHiding }: Listing, index: number): boolean {
  const found = verdictOf(props, index);
  return isHiding && found !== undefined && found[3] >= 0 && !isSuspect(props, index);
}

function followsWhat(props: PipelineProps, index: number): string {
  const found = verdictOf(props, index);
  if (!found) return "";
  const [, verdict, , follows] = found;
  return verdict === "different" ? `with the difference of ${follows}` : `${verdict} as ${follows}`;
}

/** The rows of the list: stages, and one row for each run of hidden ones that are hidden for the same reason. */
export function rowsOf(listing: Listing): readonly Row[] {
  const rows: Row[] = [];
  let [run, followed] = [0, ""];
  const flush = () => {
    if (run) rows.push({ hidden: run, words: `${run} ${followed || "unchanged"}, hidden` });
    [run, followed] = [0, ""];
  };
  for (const stage of listing.model.stages) {
    if (isHidden(listing, stage)) {
      const following = isFollower(listing, stage.index) ? followsWhat(listing.props, stage.index) : "";
      if (following !== followed) flush();
      followed = following;
      run += 1;
      continue;
    }
    flush();
    rows.push({ stage });
  }
  flush();
  return rows;
}

/** The number of the shown stage that is so many further, undefined if there is none. */
export function neighbour(listing: Listing, by: number): number | undefined {
  const shown = listing.model.stages.filter((stage) => !isHidden(listing, stage)).map((stage) => stage.index);
  return shown[shown.indexOf(listing.current) + by];
}

/** A name that may break before a capital, and the options of the pass. */
export function partsOfName(text: string): { readonly words: readonly string[]; readonly options: string } {
  const cut = text.indexOf("(");
  const name = cut < 0 ? text : text.slice(0, cut);
  return { words: name.split(/(?=[A-Z][a-z])/), options: cut < 0 ? "" : text.slice(cut) };
}

/** A count of lines in at most four characters: 1.5k. */
export function brief(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 9950 ? 1 : 0)}k`;
}

export function milliseconds(seconds: number): string {
  const value = seconds * 1000;
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1);
}

/** The severity of the worst problem of a stage, notes apart. */
export function worstOf(stage: Stage): Severity | undefined {
  return (["error", "warning"] as const).find((severity) => stage.problems.some((p) => p.severity === severity));
}
