// SPDX-License-Identifier: Apache-2.0
// The table of requirements and runs: search, filters, and the cases of a requirement below it.

const body = document.querySelector("#matrix tbody");
const search = document.getElementById("search");
const byId = (id) => document.getElementById(id);
const several = data.runs.length > 1;
const opened = new Set();
const MOST = 400; // cases that are listed at once below one requirement

// Cases by requirement, in the order of the catalogue. A case is listed at its first requirement.
const rows = data.requirements.map((requirement, index) => ({ requirement, index, cases: [] }));
data.requirementsOfCase.forEach((requirements, number) => rows[requirements[0]].cases.push(number));
const place = new Map(data.order.map((id, number) => [id, number]));
rows.sort((a, b) => (place.get(a.requirement.id) ?? 1e6) - (place.get(b.requirement.id) ?? 1e6));

const words = data.cases.map((name, number) => {
  const of = results.map((run) => run[number]).filter(Boolean);
  const more = of.map((r) => `${r.verdict} ${r.outcome} ${r.reason} ${text(r.details.message)}`);
  return [name, ...data.requirementsOfCase[number].map((i) => `${data.requirements[i].id} ${data.requirements[i].text}`), ...more].join(" ").toLowerCase();
});
const shows = (result) => (result ? `${result.verdict} ${result.outcome}` : "");
const differs = data.cases.map((_, number) => new Set(results.map((run) => shows(run[number]))).size > 1);

const present = statusKeys.filter((key) => results.some((run) => run.some((r) => r && r.status === key)));
for (const key of present) {
  const box = el("input", { type: "checkbox", value: key, onchange: render });
  byId("statuses").append(el("label", { class: "chip" }, box, el("span", { class: `dot s-${key}` }), data.statuses[key]));
}
for (const key of new Set(rows.map((row) => row.requirement.section))) {
  if (key) byId("section").append(el("option", { value: key }, `${key} ${data.sections[key] || ""}`));
}

const head = el("tr", {}, el("th", { scope: "col" }, "requirement"), ...(several ? [] : [el("th", { scope: "col" }, "what is demanded")]));
data.runs.forEach((run) => head.append(el("th", { scope: "col", class: "run" }, run.title, several ? el("small", {}, ` ${run.started.slice(0, 10)}`) : "")));
document.querySelector("#matrix thead").append(head);

function selected() {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const statuses = new Set([...document.querySelectorAll("#statuses input:checked")].map((box) => box.value));
  const onlyDifferent = several && byId("differences").checked;
  const fits = (number) =>
    (!onlyDifferent || differs[number]) &&
    (!statuses.size || results.some((run) => run[number] && statuses.has(run[number].status))) &&
    wanted.every((word) => words[number].includes(word));
  const section = byId("section").value;
  const strength = byId("strength").value;
  return rows
    .filter((row) => (!section || row.requirement.section === section) && (!strength || row.requirement.strength === strength))
    .map((row) => ({ ...row, cases: row.cases.filter(fits) }))
    .filter((row) => row.cases.length);
}

// How many cases of each status a run has among some.
function counted(run, cases) {
  const counts = new Map();
  for (const number of cases) {
    const result = results[run][number];
    const key = result ? result.status : "none";
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  return statusKeys.filter((key) => counts.has(key)).map((key) => [key, counts.get(key)]);
}

function cell(run, cases) {
  const counts = counted(run, cases);
  if (!counts.length) return el("td", { class: "cell" }, el("small", {}, "no case"));
  const said = counts.map(([key, number]) => `${number} ${data.statuses[key]}`).join(", ");
  const bar = el("div", { class: "cellbar", role: "presentation" });
  for (const [key, number] of counts) bar.append(el("span", { class: `s-${key}`, style: `flex-grow:${number}` }));
  return el("td", { class: "cell" }, said, bar);
}

function caseRow(number) {
  const row = el("tr", { class: `case${differs[number] ? " differs" : ""}` }, el("th", { scope: "row", ...(several ? {} : { colspan: 2 }) }, nameOf(number).replace(/^.*?::/, "")));
  data.runs.forEach((_, run) => {
    const result = results[run][number];
    const open = () => (location.hash = link(run, number));
    const name = `${result ? result.verdict : "no case"}, ${data.runs[run].title}, ${nameOf(number)}`;
    row.append(el("td", {}, result ? el("button", { class: "result", type: "button", "aria-label": name, onclick: open }, pill(result)) : el("small", {}, "no case"),
      result && result.outcome ? el("small", {}, ` ${result.outcome}`) : ""));
  });
  return row;
}

function requirementRows(row) {
  const { requirement, index, cases } = row;
  const open = opened.has(index);
  const button = el("button", { class: "row", type: "button", "aria-expanded": String(open), onclick: () => {
    if (!opened.delete(index)) opened.add(index);
    render();
    body.querySelector(`[data-requirement="${index}"] button`).focus();
  } }, requirement.id);
  const said = [el("span", { class: "strength" }, requirement.strength), " ", requirement.text];
  const different = several && cases.some((number) => differs[number]);
  const line = el("tr", { "data-requirement": index, class: different ? "differs" : "" });
  if (several) line.append(el("th", { scope: "row" }, button, el("br"), el("small", { class: "text" }, ...said)));
  else line.append(el("th", { scope: "row" }, button), el("td", { class: "text" }, ...said));
  data.runs.forEach((_, run) => line.append(cell(run, cases)));
  const list = open ? cases.slice(0, MOST).map(caseRow) : [];
  if (open && cases.length > MOST) list.push(el("tr", { class: "case" }, el("th", { scope: "row" }, `and ${cases.length - MOST} more: search for them`)));
  return [line, ...list];
}

function render() {
  const shown = selected();
  const parts = [];
  let section = null;
  for (const row of shown) {
    if (row.requirement.section !== section) {
      section = row.requirement.section;
      const title = section ? `${section} ${data.sections[section] || ""}` : "without a requirement";
      parts.push(el("tr", { class: "section" }, el("th", { colspan: data.runs.length + (several ? 1 : 2), scope: "colgroup" }, title)));
    }
    parts.push(...requirementRows(row));
  }
  body.replaceChildren(...parts);
  const number = shown.reduce((sum, row) => sum + row.cases.length, 0);
  byId("matched").textContent = `${number} of ${data.cases.length} cases, ${shown.length} requirements`;
  byId("expand").textContent = shown.length && shown.every((row) => opened.has(row.index)) ? "Fold" : "Expand";
}

byId("expand").addEventListener("click", () => {
  const shown = selected();
  const all = shown.every((row) => opened.has(row.index));
  for (const row of shown.slice(0, 60)) all ? opened.delete(row.index) : opened.add(row.index);
  if (all) opened.clear();
  render();
});
search.addEventListener("input", render);
for (const id of ["section", "strength", "differences"]) if (byId(id)) byId(id).addEventListener("change", render);
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName) && !dialog.open) {
    event.preventDefault();
    search.focus();
  }
});

// Grey areas: a row for each requirement, or for each case where those of one requirement do not agree.
function greyTable() {
  const table = byId("greys");
  const top = el("tr", {}, el("th", { scope: "col" }, "requirement"), el("th", { scope: "col" }, "topic"));
  for (const run of data.runs) top.append(el("th", { scope: "col" }, run.title));
  table.tHead.append(top);
  for (const { requirement, cases } of rows) {
    const grey = cases.filter((number) => results.some((run) => run[number] && run[number].outcome));
    if (!grey.length) continue;
    const cells = results.map((run) => [...new Set(grey.map((number) => run[number] && run[number].outcome).filter(Boolean))]);
    const other = several && new Set(cells.map((outcomes) => outcomes.join("\n"))).size > 1;
    const line = el("tr", { class: other ? "differs" : "" }, el("th", { scope: "row" }, requirement.id), el("td", { class: "text" }, requirement.text));
    cells.forEach((outcomes, run) => {
      const links = outcomes.map((outcome) => el("a", { href: link(run, grey.find((number) => results[run][number] && results[run][number].outcome === outcome)) }, outcome));
      line.append(el("td", {}, ...links.flatMap((a, n) => (n ? [", ", a] : [a]))));
    });
    table.tBodies[0].append(line);
  }
  if (!table.tBodies[0].rows.length) byId("grey").hidden = true;
}

render();
greyTable();
openFromAddress();
document.documentElement.dataset.ready = "yes";
