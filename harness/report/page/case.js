// SPDX-License-Identifier: Apache-2.0
// The data of the page, and one case with all that is known of it, in a dialog.

const data = JSON.parse(document.getElementById("data").textContent);
const text = (number) => (number >= 0 && number !== undefined ? data.texts[number] : "");
const statusKeys = Object.keys(data.statuses);
const dialog = document.getElementById("case");

// A row of the data as an object.
function resultOf(row) {
  const [number, verdict, status, milliseconds, outcome = -1, reason = -1, details = {}] = row;
  return {
    number,
    verdict: data.verdicts[verdict],
    status: statusKeys[status],
    milliseconds,
    outcome: text(outcome),
    reason: text(reason),
    details: details || {},
  };
}

// Results by run and case.
const results = data.runs.map((run) => {
  const ofRun = new Array(data.cases.length).fill(null);
  for (const row of run.results) ofRun[row[0]] = resultOf(row);
  return ofRun;
});

const nameOf = (number) => data.cases[number].replace(/^suites\//, "");
const pill = (result) => el("span", { class: `pill v-${result.verdict}` }, result.verdict);

function link(run, number) {
  return `#run=${run}&case=${encodeURIComponent(data.cases[number])}`;
}

function block(title, ...children) {
  const some = children.filter(Boolean);
  return some.length ? [el("h3", {}, title), ...some] : [];
}

function facts(pairs) {
  const list = el("dl");
  for (const [name, value] of pairs) {
    if (value === "" || value === null || value === undefined) continue;
    list.append(el("dt", {}, name), el("dd", {}, value));
  }
  return list;
}

function lines(numbers) {
  return numbers && numbers.length ? el("pre", { tabindex: "0" }, numbers.map(text).join("\n")) : null;
}

function requirementsOf(number) {
  return data.requirementsOfCase[number].map((index) => {
    const requirement = data.requirements[index];
    const links = requirement.links.map(([words, url]) => el("li", {}, el("a", { href: url, rel: "noreferrer" }, words)));
    return el(
      "div",
      {},
      el("p", {}, el("b", {}, requirement.id), " ", el("span", { class: "strength" }, requirement.strength), " ", requirement.text),
      requirement.grey ? el("p", {}, el("small", {}, `Grey area: ${requirement.grey}`)) : null,
      links.length ? el("ul", {}, ...links) : el("small", {}, requirement.source),
    );
  });
}

function stacksOf(message) {
  const from = message.search(/^thread \d+:/m);
  return from < 0 ? "" : message.slice(from);
}

function copyButton(words) {
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(words);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it to copy";
    }
  });
  return button;
}

function verdictsOfAllRuns(number, shown) {
  if (data.runs.length < 2) return [];
  const rows = data.runs.map((run, index) => {
    const result = results[index][number];
    const what = result ? [pill(result), " ", result.outcome || result.reason] : ["no case"];
    const name = index === shown ? el("b", {}, run.title) : el("a", { href: link(index, number) }, run.title);
    return el("tr", {}, el("th", { scope: "row" }, name, " ", el("small", {}, run.started)), el("td", {}, ...what));
  });
  return block("In all runs", el("table", {}, el("tbody", {}, ...rows)));
}

function fill(run, number) {
  const result = results[run][number];
  const close = el("button", { class: "close", type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "✕");
  const title = el("h2", { id: "case-title", tabindex: "-1" }, nameOf(number));
  if (!result) {
    dialog.replaceChildren(close, title, el("p", {}, `${data.runs[run].title} has no such case.`), ...verdictsOfAllRuns(number, run));
    return;
  }
  const details = result.details;
  const message = text(details.message);
  const [sentence, ...rest] = message.trim().split("\n");
  const stacks = stacksOf(rest.join("\n"));
  const reproduce = text(details.reproduce);
  dialog.replaceChildren(
    close,
    title,
    el("p", {}, pill(result), " ", el("b", {}, data.statuses[result.status]), ` in ${data.runs[run].title}`),
    ...requirementsOf(number),
    facts([
      ["expected", sentence || (details.expected || []).join(" or ")],
      ["on record", (details.expected || []).join(" or ") + (details.expectedOutcome === undefined ? "" : ` ${text(details.expectedOutcome)}`)],
      ["outcome", result.outcome],
      ["reason", result.reason],
      ["took", `${result.milliseconds} ms`],
    ]),
    ...block("What deviates", details.deviations ? lines(details.deviations) : null),
    ...block("Calls", details.log ? timeline(details.log.map(text), details.times) : null, details.log ? el("details", {}, el("summary", {}, "as text"), lines(details.log)) : null),
    ...block("Message", rest.length ? el("pre", { tabindex: "0" }, rest.join("\n").replace(stacks, "").trim()) : null),
    ...block("Stacks", stacks ? el("pre", { tabindex: "0" }, stacks) : null),
    ...block("Files", lines(details.files)),
    ...block("Environment", lines(details.environment)),
    ...block("Reproduce", reproduce ? el("div", { class: "tools" }, el("code", {}, reproduce), copyButton(reproduce)) : null),
    ...(details.cut ? [el("p", {}, el("small", {}, "Log and files of this case are in the records: this page keeps below 3 MB."))] : []),
    ...verdictsOfAllRuns(number, run),
  );
}

function openFromAddress() {
  const match = /^#run=(\d+)&case=(.+)$/.exec(location.hash);
  const number = match ? data.cases.indexOf(decodeURIComponent(match[2])) : -1;
  if (number < 0 || !data.runs[Number(match[1])]) {
    if (dialog.open) dialog.close();
    return;
  }
  fill(Number(match[1]), number);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("case-title").focus();
}

dialog.addEventListener("close", () => {
  if (location.hash.startsWith("#run=")) history.replaceState(null, "", location.pathname + location.search);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
window.addEventListener("hashchange", openFromAddress);
