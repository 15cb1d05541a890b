// Graph: a picture laid out in Python; here it is moved, searched, marked and exported.

import type { GraphAction } from "#generated/models";
import { component, type Tell } from "#shared/mount";
import heatStyle from "../shared/heat.css";
import { GraphPane } from "./pane";
import style from "./style.css";

export default component(`${heatStyle}\n${style}`, (root, tell: Tell<GraphAction>) =>
  new GraphPane(root, tell).takeKeys(),
);
