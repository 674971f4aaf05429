/* Two runs: scores, and the samples whose verdicts differ with both programs. */
import { ask, link, make, markedLines, number, percent, tell, textBlock, verdict } from "./dom.js";

const points = (value) => `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)}`;
const KINDS = { "": "All that differ", gained: "Right in B alone", lost: "Right in A alone", other: "Wrong in both, differently" };

function headlines(found, state) {
  const rows = found.headlines.map((each) => make("tr", {}, make("th", { scope: "row" }, each.mode), make("td", { class: "n" }, percent(each.rate_a)), make("td", { class: "n" }, percent(each.rate_b)),
    make("td", { class: "n" }, `${points(each.difference)} points`, each.low !== null && make("small", {}, `${points(each.low)} to ${points(each.high)}`)),
    make("td", { class: "n" }, each.p_value === null ? "–" : each.p_value.toPrecision(2)), make("td", { class: "n" }, `${each.wins}, ${each.losses}, ${each.ties}`), make("td", { class: "n" }, number(each.problems))));
  const head = ["rules", "A", "B", "B against A", "p", "problems won, lost, equal", "common problems"].map((name, i) => make("th", { scope: "col", class: i ? "n" : null }, name));
  return [
    make("p", { class: "legend-ab" }, make("b", {}, "A"), " ", link({ run: state.run }, state.run), " · ", make("b", {}, "B"), " ", link({ run: state.with }, state.with), " ",
      link({ run: state.with, with: state.run, mode: state.mode }, "exchange")),
    rows.length > 0 && make("div", { class: "scroll" }, make("table", { class: "narrow" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))),
    found.warnings.map((text) => make("p", { class: "warn" }, text)),
  ].flat();
}

async function programs(state, row) {
  const both = await Promise.all([state.run, state.with].map((run) => ask("api/sample", { run, problem: row.problem_id, sample: row.sample })));
  const [a, b] = both.map((each) => each.program);
  const side = (name, view, mine, other) => make("div", {}, make("p", { class: "note" }, link({ run: view.run, problem: row.problem_id, sample: row.sample }, `${name}: ${view.run}`), " ",
    view.judgements.map((each) => [each.mode, " ", verdict(each.verdict), " "]).flat()),
    mine.size ? textBlock("program", mine, { run: view.run, problem: row.problem_id, sample: row.sample, part: "program" }, { marks: other.size ? markedLines(mine.text, other.text) : null, class: "tall" })
      : textBlock("no program in this reply", view.reply, { run: view.run, problem: row.problem_id, sample: row.sample, part: "reply" }),
    view.judgements.filter((each) => each.message.size).map((each) => make("p", { class: "note" }, `${each.mode}: ${each.message.text}`)));
  return make("div", { class: "sides" }, side("A", both[0], a, b), side("B", both[1], b, a));
}

export async function show(main, state, { isCurrent }) {
  tell("comparing …");
  const found = await ask("api/difference", { run: state.run, with: state.with, mode: state.mode, kind: state.kind, page: state.page });
  if (!isCurrent()) return;
  tell("");
  const base = { run: state.run, with: state.with, mode: state.mode, kind: state.kind, page: state.page };
  const total = Object.values(found.counts).reduce((sum, count) => sum + count, 0);
  const chips = make("div", { class: "tabs", role: "group", "aria-label": "Samples" }, Object.entries(KINDS).map(([kind, label]) =>
    link({ ...base, kind, page: 1 }, `${label} ${number(kind ? found.counts[kind] : total)}`, { "aria-current": (state.kind ?? "") === kind ? "true" : null })));
  const modes = found.modes.length > 1 && make("div", { class: "tabs", role: "group", "aria-label": "Rules" }, found.modes.map((mode) =>
    link({ ...base, mode, page: 1 }, mode, { "aria-current": mode === found.mode ? "true" : null })));
  const columns = 4;
  const rows = await Promise.all(found.rows.map(async (row) => {
    const open = row.problem_id === state.problem && String(row.sample) === state.sample;
    const here = open ? base : { ...base, problem: row.problem_id, sample: row.sample };
    const line = make("tr", { "data-key": `${row.problem_id} ${row.sample}` }, make("th", { scope: "row" }, link(here, row.problem_id, { class: "row", "aria-expanded": String(open) }), row.title && make("small", {}, row.title)),
      make("td", { class: "n" }, row.sample), make("td", {}, verdict(row.a)), make("td", {}, verdict(row.b)));
    if (!open) return [line];
    return [line, make("tr", { class: "opened" }, make("td", { colspan: columns }, await programs(state, row)))];
  }));
  if (!isCurrent()) return;
  const to = (page) => ({ ...base, page });
  main.replaceChildren(make("h1", {}, "Two runs"), ...headlines(found, state).filter(Boolean),
    make("div", { class: "tools" }, modes, chips),
    make("p", { class: "pager" }, found.page > 1 ? link(to(found.page - 1), "← Previous") : make("span", {}, "← Previous"), make("span", {}, `Page ${found.page} of ${found.pages}`),
      found.page < found.pages ? link(to(found.page + 1), "Next →") : make("span", {}, "Next →"), make("output", { id: "found" }, `${number(total)} of ${number(found.common)} common samples differ by ${found.mode} rules`)),
    make("div", { class: "scroll" }, make("table", { id: "differing", class: state.problem ? null : "narrow" }, make("thead", {}, make("tr", {}, ["problem", "sample", "A", "B"].map((name, i) => make("th", { scope: "col", class: i === 1 ? "n" : null }, name)))), make("tbody", {}, rows.flat()))));
  if (state.problem) main.querySelector('[aria-expanded="true"]')?.focus();
}
