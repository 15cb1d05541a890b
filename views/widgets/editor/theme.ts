// How the text looks, in the colours of the theme; what the classes of tokens mean is in the shared style sheet.

import { EditorView } from "@codemirror/view";

const FIELD = {
  font: "12px/1.4 var(--ui)",
  color: "var(--text)",
  background: "var(--bg)",
  border: "1px solid var(--line2)",
  borderRadius: "4px",
  padding: "2px 6px",
  margin: "2px 4px 2px 0",
};

export const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", background: "var(--bg)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "11.5px/19px var(--mono)", fontVariantLigatures: "none", overflow: "auto" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--text)", tabSize: "4" },
  ".cm-line": { padding: "0 8px 0 4px" },
  ".cm-line.sel": { background: "var(--accentBg)" },
  ".cm-line.dim, .cm-line.dim *": { color: "var(--text3)" },
  ".cm-gutters": { background: "var(--bg)", color: "var(--text3)", border: "0", fontSize: "10.5px" },
  ".cm-heat": { width: "11px" },
  ".cm-heat .cm-gutterElement": { position: "relative" },
  ".cm-signs": { width: "18px" },
  ".cm-signs .cm-gutterElement": { textAlign: "center", fontSize: "11px" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 2px 0 0", minWidth: "18px" },
  ".cm-foldGutter .cm-gutterElement": { width: "12px", color: "var(--text3)", cursor: "pointer" },
  ".cm-foldPlaceholder": {
    background: "var(--raised)",
    border: "1px solid var(--line2)",
    color: "var(--text2)",
    padding: "0 4px",
  },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb,var(--accent) 28%,transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { background: "var(--raised)", outline: "1px solid var(--line2)" },
  ".cm-searchMatch": { background: "var(--warnBg)" },
  ".cm-searchMatch-selected": { background: "var(--current)", outline: "1px solid var(--warn)" },
  ".cm-panels": { background: "var(--chrome)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "4px 8px", font: "12px/1.4 var(--ui)" },
  ".cm-panel.cm-search label": { fontSize: "12px", marginRight: "6px" },
  ".cm-textfield": FIELD,
  ".cm-button": { ...FIELD, backgroundImage: "none" },
  ".cm-panel.cm-search [name=close]": { color: "var(--text2)", fontSize: "16px" },
  ".cm-tooltip": {
    background: "var(--bg)",
    color: "var(--text)",
    border: "1px solid var(--line2)",
    borderRadius: "6px",
    font: "12px/1.45 var(--ui)",
  },
  ".cm-tooltip-hover > *": { padding: "7px 10px", maxWidth: "420px", overflowWrap: "anywhere" },
  ".cm-tooltip .hint": { color: "var(--text2)", marginTop: "3px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "11.5px/19px var(--mono)", maxHeight: "14em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accentFill)",
    color: "var(--accentOn)",
  },
  ".cm-tooltip .term .code, .cm-tooltip.term .code": { whiteSpace: "pre-wrap", marginBottom: "3px" },
  ".cm-tooltip.signature": { padding: "7px 10px", maxWidth: "520px", overflowWrap: "anywhere" },
  ".cm-tooltip.signature .active": { color: "var(--accent)", fontWeight: "650" },
  ".cm-completionDetail": { color: "var(--text3)", fontStyle: "normal" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-tooltip.cm-completionInfo": { padding: "7px 10px", maxWidth: "420px", overflowWrap: "anywhere" },
});
