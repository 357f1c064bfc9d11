// SPDX-License-Identifier: Apache-2.0
// A call log in four lanes: application, layers, loader, vendors. One step to the right is one event, or a length of
// time where the log has the time of each line, in nanoseconds, and the reader wants it.

const LANES = ["application", "layers", "loader", "vendors"];
const BAR = 18;
const LEFT = 92;
const OF_LAYERS = /\b(clGetLayerInfo|clInitLayer|clInitLayerWithProperties|clDeinitLayer)\b/;

// "who | what": who it was, the function or event, its arguments, its result.
function parsed(line) {
  const match = /^(\S.*?) \| (\S+?)(\((.*)\))?( = (\S+))?(  (\{.*\}))?$/.exec(line);
  if (!match) return { who: "", name: line, kind: "note", line };
  const kind = match[3] !== undefined ? "call" : match[5] !== undefined ? "return" : "event";
  return { who: match[1], name: match[2], kind, result: match[6], line };
}

function calls(log) {
  const events = log.map(parsed);
  const layers = new Set(events.filter((e) => e.who !== "application" && OF_LAYERS.test(e.name)).map((e) => e.who));
  const laneOf = (who) => (who === "application" ? 0 : layers.has(who) ? 1 : 3);
  const open = [];
  const bars = [];
  events.forEach((event, at) => {
    if (event.kind === "call") {
      const bar = { ...event, from: at, to: null, lane: laneOf(event.who), depth: 0 };
      bar.depth = open.filter((other) => other.lane === bar.lane).length;
      open.push(bar);
      bars.push(bar);
    } else if (event.kind === "return") {
      const place = open.findLastIndex((bar) => bar.who === event.who && bar.name === event.name);
      if (place >= 0) {
        const [bar] = open.splice(place, 1);
        bar.to = at;
        bar.result = event.result;
        bar.returned = event.line;
      }
    } else {
      bars.push({ ...event, from: at, to: at, lane: event.who ? laneOf(event.who) : 2, depth: 0 });
    }
  });
  for (const bar of open) bar.to = log.length - 0.2;
  if (bars.every((bar) => bar.lane === 0)) return bars; // a program on real vendors, which write no log
  return bars.concat(bars.filter((bar) => bar.lane === 0 && bar.kind === "call").map(ofLoader(bars)));
}

// The loader writes no log: it has the control between the application's call and what it calls.
function ofLoader(bars) {
  return (bar) => {
    const inner = bars.filter((other) => other.lane !== 0 && other.from > bar.from && other.to < bar.to && other.kind === "call");
    const through = inner.length ? `hands it on ${inner.length} times` : "calls nobody";
    return { ...bar, lane: 2, who: "loader", line: `loader | ${bar.name}: ${through}`, returned: "" };
  };
}

// 1 ns to hours, in the largest unit of which there is at least one.
function duration(nanoseconds) {
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, size]) => nanoseconds >= size) || ["ns", 1];
  return `${Number((nanoseconds / size).toPrecision(3))} ${unit}`;
}

function timeline(log, times) {
  const bars = calls(log);
  const clock = times && times.length === log.length && times.at(-1) > times[0];
  let byClock = false;
  // Where an event is, in steps from the left: by its number, or by its time on a line of the same length.
  const place = (at) => {
    if (!byClock) return at;
    const whole = Math.min(Math.floor(at), log.length - 1);
    return ((times[whole] - times[0]) / (times.at(-1) - times[0])) * (log.length - 1) + (at > whole ? 0.2 : 0);
  };
  const when = (bar) => {
    if (!clock) return "";
    const last = times[Math.min(Math.floor(bar.to), log.length - 1)];
    return `  (after ${duration(times[bar.from] - times[0])}${bar.kind === "call" ? `, for ${duration(last - times[bar.from])}` : ""})`;
  };
  const depths = LANES.map((_, lane) => Math.max(0, ...bars.filter((bar) => bar.lane === lane).map((bar) => bar.depth)) + 1);
  const tops = depths.map((_, lane) => 4 + depths.slice(0, lane).reduce((sum, depth) => sum + depth * (BAR + 2) + 8, 0));
  const height = tops[3] + depths[3] * (BAR + 2) + 8;
  let step = Math.max(10, Math.min(48, Math.floor(860 / Math.max(log.length, 1))));
  const shown = el("p", { class: "shown", "aria-live": "polite" }, "Hover over a call, or go through them with the arrow keys.");
  const frame = el("div", { class: "timeline", role: "group", "aria-label": `Timeline of ${bars.length} calls and events` });

  function draw() {
    const width = LEFT + log.length * step + 20;
    const svg = shape("svg", { width, height, "aria-hidden": "false" });
    LANES.forEach((lane, number) => {
      const tall = depths[number] * (BAR + 2) + 4;
      svg.append(shape("rect", { class: "lane", x: 0.5, y: tops[number] - 2.5, width: width - 1, height: tall }));
      svg.append(shape("text", { class: "name", x: 8, y: tops[number] + 13 }, lane));
    });
    bars.forEach((bar, number) => svg.append(...drawn(bar, number)));
    frame.replaceChildren(svg);
  }

  function drawn(bar, number) {
    const x = LEFT + place(bar.from) * step;
    const wide = Math.max((place(bar.to) - place(bar.from)) * step, byClock ? 2 : bar.kind === "call" ? 6 : 8);
    const y = tops[bar.lane] + bar.depth * (BAR + 2);
    const words = (bar.returned ? `${bar.line}  →  ${bar.returned.split(" | ")[1]}` : bar.line) + when(bar);
    const item = shape("rect", {
      class: `call l-${LANES[bar.lane]}`, x, y, width: wide, height: BAR, rx: bar.kind === "call" ? 3 : 9,
      tabindex: number ? -1 : 0, role: "img", "aria-label": words,
    });
    const show = () => (shown.textContent = harmless(words));
    item.addEventListener("mouseenter", show);
    item.addEventListener("focus", show);
    item.append(shape("title", {}, words));
    const room = Math.floor((wide - 6) / 6.7);
    const label = bar.name.replace(/^cl/, "");
    return room > 2 ? [item, shape("text", { x: x + 4, y: y + 13 }, label.length > room ? `${label.slice(0, room - 1)}…` : label)] : [item];
  }

  function zoom(factor) {
    const middle = (frame.scrollLeft + frame.clientWidth / 2 - LEFT) / step;
    step = Math.max(4, Math.min(byClock ? 4000 : 160, step * factor));
    draw();
    frame.scrollLeft = middle * step + LEFT - frame.clientWidth / 2;
  }

  frame.addEventListener("keydown", (event) => {
    const items = [...frame.querySelectorAll(".call")];
    const ordered = items.sort((a, b) => a.x.baseVal.value - b.x.baseVal.value || a.y.baseVal.value - b.y.baseVal.value);
    const active = ordered.indexOf(document.activeElement);
    if (event.key === "ArrowRight" && active + 1 < ordered.length) ordered[active + 1].focus();
    else if (event.key === "ArrowLeft" && active > 0) ordered[active - 1].focus();
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else return;
    event.preventDefault();
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
  }, { passive: false });
  const measure = el("small", {});
  const chosen = el("input", { type: "checkbox", onchange: () => measured(chosen.checked) });
  function measured(time) {
    byClock = time;
    step = Math.max(10, Math.min(48, Math.floor(860 / Math.max(log.length, 1))));
    measure.textContent = time ? `${duration(times.at(-1) - times[0])} from left to right` : "in the order of events";
    draw();
  }
  measured(false);
  const tools = el("div", { class: "tools" },
    el("button", { type: "button", "aria-label": "Zoom in", onclick: () => zoom(1.5) }, "+"),
    el("button", { type: "button", "aria-label": "Zoom out", onclick: () => zoom(1 / 1.5) }, "−"),
    clock ? el("label", { class: "check" }, chosen, " by the clock") : null,
    measure);
  return el("div", {}, tools, frame, shown);
}

function shape(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, harmless(value));
  node.append(...children.map((child) => (child instanceof Node ? child : harmless(child))));
  return node;
}
