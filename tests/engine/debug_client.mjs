// A session with the debug adapter, held by the client that VS Code's own adapters are tested with.
// node debug_client.mjs PYTHON PROGRAM LINE: of the sample of a loop, and the line that counts up.
import { deepStrictEqual as same } from "node:assert";
import { spawn } from "node:child_process";
import support from "@vscode/debugadapter-testsupport";

const [python, path, text] = process.argv.slice(2);
const line = Number(text);
const here = { threadId: 1 };
const client = new support.DebugClient("", "", "relaxscope");
const adapter = spawn(python, ["-m", "relax_core", "dap"], { stdio: ["pipe", "pipe", "inherit"] });
client.connect(adapter.stdout, adapter.stdin);

/** Make a move, and see where it stops and why. */
async function moved(request, reason, at) {
  await Promise.all([request, client.assertStoppedLocation(reason, { path, line: at })]);
}

async function value(expression) {
  const found = await client.evaluateRequest({ expression, context: "watch" });
  return found.body.result;
}

async function locals() {
  const frame = (await client.stackTraceRequest(here)).body.stackFrames[0];
  const scope = (await client.scopesRequest({ frameId: frame.id })).body.scopes[0];
  const { variablesReference } = scope;
  return { frame, scope, found: (await client.variablesRequest({ variablesReference })).body.variables };
}

await client.hitBreakpoint({ program: path }, { path, line });
await client.setBreakpointsRequest({ source: { path }, breakpoints: [{ line, condition: "i >= 1" }] });
await moved(client.continueRequest(here), "breakpoint", line);
const { frame, found } = await locals();
same(found.find((item) => item.name === "i").value, "1");
await moved(client.nextRequest(here), "step", line + 1);
await moved(client.stepBackRequest(here), "breakpoint", line);
await moved(client.nextRequest({ ...here, granularity: "instruction" }), "step", line);
await moved(client.stepBackRequest({ ...here, granularity: "instruction" }), "breakpoint", line);

const named = { variablesReference: (await locals()).scope.variablesReference, name: "i" };
same((await client.customRequest("dataBreakpointInfo", named)).body.accessTypes, ["write"]);
await client.setVariableRequest({ ...named, value: "6" });
same(await value("i"), "6");
const listing = await client.customRequest("disassemble", {
  memoryReference: frame.instructionPointerReference,
  instructionCount: 3,
});
same(listing.body.instructions.length, 3);
await moved(client.continueRequest(here), "breakpoint", line);
same(await value("i"), "7");
await moved(client.reverseContinueRequest(here), "breakpoint", line);
same(await value("i"), "6");
await client.setBreakpointsRequest({ source: { path }, breakpoints: [] });
await Promise.all([client.continueRequest(here), client.waitForEvent("exited"), client.waitForEvent("terminated")]);
await client.disconnectRequest({});
console.log("held");
