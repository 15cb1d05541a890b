// The recorded run: frames at any time from deltas, where commands lead, and which events stop at a breakpoint.
// Times are absolute; an index into the window is `time - run.first_event`.

const KEEP_EVERY = 64;

function createRunState(run) {
  const first = run.first_event;
  const last = first + run.events.length;
  const newest = last === run.total ? last : last - 1;
  const kept = new Map([[0, run.frames.map(startFrame)]]);
  const firstTimeOfLine = new Map(run.executed_lines.map((line) => [line, -1]));
  const firstTimeOfPc = new Map(run.executed_pcs.map((pc) => [pc, -1]));
  run.events.forEach(([, pc, line], i) => {
    if (!firstTimeOfLine.has(line)) firstTimeOfLine.set(line, first + i);
    if (!firstTimeOfPc.has(pc)) firstTimeOfPc.set(pc, first + i);
  });
  const registersOf = new Map();
  const breakable = [...new Set(run.instructions.map((row) => row.line).filter(Boolean))].sort((a, b) => a - b);

  let stops = new Map();

  return { setEvaluated, evaluated, first, last, newest, event, framesAt, jump, isHit, hits, search, breakable, firstTimeOfLine, firstTimeOfPc, holds, registersByLine };

  function startFrame(frame) {
    return { function: frame.function, pc: frame.pc, line: frame.line, through: frame.through, registers: [...frame.registers], notes: [], times: [] };
  }

  function holds(time) {
    return time >= first && time <= newest;
  }

  function event(time) {
    return run.events[time - first];
  }

  // A step costs at most KEEP_EVERY events, and copies of the frames that they change: stacks are deep, frames long.
  function framesAt(time) {
    const target = time - first;
    let from = target - (target % KEEP_EVERY);
    while (!kept.has(from)) from -= KEEP_EVERY;
    const frames = [...kept.get(from)];
    let own = new Set();
    for (let i = from; i < target; i += 1) {
      apply(frames, own, run.events[i], first + i + 1);
      if ((i + 1) % KEEP_EVERY === 0 && !kept.has(i + 1)) {
        kept.set(i + 1, [...frames]);
        own = new Set();
      }
    }
    const next = run.events[target];
    if (next) stand(frames, next);
    else if (run.stop_pc >= 0 && frames.length) stand(frames, [0, run.stop_pc, run.stop_line, frames.length - 1]);
    return frames;
  }

  function stand(frames, [, pc, line, depth]) {
    if (frames[depth]) frames[depth] = { ...frames[depth], pc, line };
  }

  // A frame's lists belong to the kept state that it came from until they are in `own`.
  function writable(frames, own, depth) {
    const frame = frames[depth];
    if (!frame || own.has(frame.registers)) return frame;
    frames[depth] = { ...frame, registers: frame.registers.slice(), notes: frame.notes.slice(), times: frame.times.slice() };
    own.add(frames[depth].registers);
    return frames[depth];
  }

  // The registers whose variable a line of a function binds.
  function registersByLine(number) {
    if (!registersOf.has(number)) {
      const byLine = new Map();
      run.functions[number].registers.forEach((register, index) => {
        if (register.line) byLine.set(register.line, [...(byLine.get(register.line) || []), index]);
      });
      registersOf.set(number, byLine);
    }
    return registersOf.get(number);
  }

  function apply(frames, own, happened, time) {
    stand(frames, happened);
    for (const change of happened[6]) {
      if (change[0] === "push") {
        frames.push({ function: change[1], pc: -1, line: run.functions[change[1]].line, through: change[2], registers: [], notes: [], times: [] });
      } else if (change[0] === "pop") {
        frames.pop();
      } else {
        const [, depth, register, value, note] = change;
        const frame = writable(frames, own, depth);
        if (!frame) continue;
        frame.registers[register] = value;
        frame.notes[register] = note;
        frame.times[register] = time;
      }
    }
  }

  // Where a command leads from a time; -1 for nowhere.
  function jump(by, command, time) {
    const table = by === "instruction" ? run.by_instruction : run.by_binding;
    const target = table[command][time - first];
    return target === undefined ? -1 : target;
  }

  // Where breakpoints with a condition stop; the server has evaluated them.
  function setEvaluated(list) {
    stops = new Map(list.map((item) => [conditionKey(item.point), { ...item, times: new Set(item.times) }]));
  }

  function evaluated(point) {
    return point.condition ? stops.get(conditionKey(point)) : undefined;
  }

  function isHit(time, points) {
    const at = event(time);
    return Boolean(at) && points.some((point) => point.is_on && isAt(point, at) && holdsAt(point, time));
  }

  function isAt(point, [, pc, line, , isStart]) {
    if (point.line) return point.line === line && isStart;
    return point.pc < 0 ? point.condition !== "" : point.pc === pc;
  }

  function holdsAt(point, time) {
    const known = evaluated(point);
    return !point.condition || Boolean(known && known.times.has(time));
  }

  function hits(point) {
    const found = [];
    for (let time = first; time < last; time += 1) if (isHit(time, [{ ...point, is_on: true }])) found.push(time);
    return found;
  }

  // The nearest hit after (step 1) or before (step -1) a time; -1 if the window has none.
  function search(time, step, points) {
    for (let t = time + step; t >= first && t < last; t += step) if (isHit(t, points)) return t;
    return -1;
  }
}
