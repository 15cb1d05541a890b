// Which mode a notebook is in, by what its page says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDark, type Said } from "../../../views/notebook/mode";

const NOTHING: Said = { jupyter: undefined, code: undefined, theme: null, backgrounds: [], isSystemDark: false };

test("each host says by its own attribute whether it is dark", () => {
  assert.ok(isDark({ ...NOTHING, jupyter: "false" }));
  assert.ok(!isDark({ ...NOTHING, jupyter: "true", isSystemDark: true }));
  assert.ok(isDark({ ...NOTHING, code: "vscode-dark" }));
  assert.ok(isDark({ ...NOTHING, code: "vscode-high-contrast" }));
  assert.ok(!isDark({ ...NOTHING, code: "vscode-high-contrast-light", isSystemDark: true }));
  assert.ok(isDark({ ...NOTHING, theme: "dark" }));
  assert.ok(!isDark({ ...NOTHING, theme: "light", isSystemDark: true }));
});

test("elsewhere the nearest background tells, and without one the system", () => {
  const clear = "rgba(0, 0, 0, 0)";
  assert.ok(isDark({ ...NOTHING, backgrounds: [clear, "rgb(30, 30, 30)", "rgb(255, 255, 255)"] }));
  assert.ok(!isDark({ ...NOTHING, backgrounds: [clear, "rgb(250, 250, 240)"], isSystemDark: true }));
  assert.ok(isDark({ ...NOTHING, backgrounds: [clear], isSystemDark: true }));
  assert.ok(!isDark(NOTHING));
});
