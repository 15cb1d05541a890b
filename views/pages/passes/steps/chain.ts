// A pipeline as a list: how it is changed, and how it reads as text.

import type { GivenPass, KnownPass, PassOption } from "#generated/models";

export type Chain = readonly GivenPass[];

/** The pipeline as one line of text. */
export function textOf(chain: Chain): string {
  return chain.map(stepText).join(", ");
}

function stepText({ name, given }: GivenPass): string {
  return given.length ? `${name}(${given.map((item) => `${item.name}=${item.literal}`).join(", ")})` : name;
}

/** The list with the pass at one place moved to another. */
export function moved(chain: Chain, from: number, to: number): Chain {
  const item = chain[from];
  if (!item || to < 0 || to >= chain.length) return chain;
  const rest = chain.filter((_, place) => place !== from);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

export function removed(chain: Chain, place: number): Chain {
  return chain.filter((_, at) => at !== place);
}

/** The list with a further pass before the one at `place`. */
export function added(chain: Chain, place: number, name: string, known: number): Chain {
  return [...chain.slice(0, place), { name, known, given: [] }, ...chain.slice(place)];
}

/** The list with another value for an option of the pass at `place`; a default is not written. */
export function withOption(chain: Chain, place: number, option: PassOption, shown: string): Chain {
  return chain.map((step, at) => {
    if (at !== place) return step;
    const others = step.given.filter((item) => item.name !== option.name);
    if (shown.trim() === option.default || (!shown.trim() && option.kind === "number"))
      return { ...step, given: others };
    return { ...step, given: [...others, { name: option.name, shown, literal: literalOf(option, shown) }] };
  });
}

/** What a field of the form says, as the pipeline has it. */
export function literalOf(option: PassOption, shown: string): string {
  switch (option.kind) {
    case "text":
    case "choice":
      return quoted(shown);
    case "list":
      return `[${shown
        .split(",")
        .map((item) => item.trim())
        .filter(Boolean)
        .map(quoted)
        .join(", ")}]`;
    default:
      return shown.trim() || "None";
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n")}'`;
}

/** A pass that may be added, with its place in the table. */
export type Offer = readonly [place: number, pass: KnownPass];

/** The passes that fit what was typed: whose names begin with it, then hold it, then whose sentences do. */
export function offers(passes: readonly KnownPass[], typed: string): readonly Offer[] {
  const word = typed.trim().toLowerCase();
  const rank = ({ name, summary }: KnownPass) => {
    const at = name.toLowerCase().indexOf(word);
    if (at === 0) return 0;
    if (at > 0) return 1;
    return summary.toLowerCase().includes(word) ? 2 : 3;
  };
  return passes
    .map((pass, place): Offer => [place, pass])
    .filter(([, pass]) => rank(pass) < 3)
    .sort(([, one], [, other]) => rank(one) - rank(other));
}
