// What the page holds beside the DOM: style sheets as text, and what one component leaves for the others.

declare module "*.css" {
  const text: string;
  export default text;
}

interface Window {
  relaxscopeHistory?: History["pushState"];
  relaxscopeKeys?: (event: KeyboardEvent) => void;
}

interface WindowEventMap {
  "relaxscope:select": CustomEvent<{ node: string; from: HTMLElement }>;
  "relaxscope:time": CustomEvent<{ at: number; line: number; pc: number }>;
}
