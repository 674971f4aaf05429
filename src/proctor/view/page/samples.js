/* The samples of a run. */
import { address, ask, dollars, link, make, number, percent, seconds, tell, verdict } from "./dom.js";
import { progress, stateChip, verdictBar } from "./runs.js";

export const FILTERS = ["q", "text", "mode", "verdict", "platform", "difficulty", "no_program", "finish_reason", "stop_reason", "sort"];
export const filtersOf = (state) => Object.fromEntries(FILTERS.filter((name) => state[name]).map((name) => [name, state[name]]));
const LABELS = { platform: "Platform", difficulty: "Difficulty", no_program: "No program", finish_reason: "Reply ended by", stop_reason: "Agent stopped by" };
const COLUMNS = [
  ["problem_id", "problem"], ["sample", "sample", "n"], ["official", "official"], ["standard", "standard"],
  ["difficulty", "difficulty", "wide"], ["platform", "platform", "wide"], ["completion_tokens", "tokens", "n wide"],
  ["model_seconds", "model", "n wide"], ["judge_cpu", "judging", "n wide"], ["slowest_share", "of limit", "n wide"],
  ["turns", "turns", "n wide"], ["cost", "cost", "n wide"],
];

function cell(name, row, state) {
  const value = row[name];
  if (name === "problem_id") {
    const here = { run: state.run, ...filtersOf(state), problem: row.problem_id, sample: row.sample };
    const said = row.fault || (row.no_program ? `no program: ${row.no_program}` : "");
    return make("th", { scope: "row" }, link(here, row.problem_id, { class: "row" }), row.title && make("small", {}, row.title), said && make("small", { class: "warn" }, said));
  }
  if (name === "official" || name === "standard") return make("td", {}, verdict(value, name));
  const shown = { completion_tokens: number, model_seconds: seconds, judge_cpu: seconds, cost: dollars, turns: number,
    slowest_share: (share) => (share === undefined ? "–" : `${Math.round(100 * share)} %`) }[name];
  return make("td", { class: COLUMNS.find(([each]) => each === name)[2] }, shown ? shown(value) : value ?? "–");
}

function select(name, label, values, state, change) {
  const options = [["", "any"], ...values.map((value) => (Array.isArray(value) ? value : [value, value]))];
  const element = make("select", { name, onchange: () => change({ [name]: element.value }) },
    options.map(([value, text]) => make("option", { value }, text)));
  if (state[name] && !options.some(([value]) => value === state[name])) element.append(make("option", { value: state[name] }, state[name]));
  element.value = state[name] ?? "";
  return make("label", { class: state[name] ? "set" : null }, label, " ", element);
}

function filters(page, state, change) {
  const verdicts = [["passed", "passed"], ["failed", "failed"], ...(page.modes.length > 1 ? [["differs", "modes differ"]] : []), ...page.verdicts];
  const box = (name, label, hint) => {
    const input = make("input", { type: "search", name, placeholder: hint, autocomplete: "off", onchange: () => change({ [name]: input.value.trim() }) });
    input.value = state[name] ?? "";
    return make("label", { class: state[name] ? "set" : null }, label, " ", input);
  };
  return make("form", { role: "search", onsubmit: (event) => event.preventDefault() },
    box("q", "Problem", "id, title, contest"), box("text", "In reply or program", "text"),
    select("verdict", "Verdict", verdicts, state, change),
    page.modes.length > 1 && select("mode", "by", page.modes, state, change),
    Object.entries(page.facets).filter(([name, values]) => values.length > 1 || state[name] || (name === "no_program" && values.length))
      .map(([name, values]) => select(name, LABELS[name], values, state, change)),
    Object.keys(filtersOf(state)).some((name) => name !== "sort") && make("button", { type: "button", onclick: () => { location.hash = address({ run: state.run, sort: state.sort }); } }, "Clear"));
}

function summary(run) {
  const modes = Object.entries(run.modes ?? {}).map(([mode, found]) => make("div", { class: "figure" },
    make("span", { class: "rules" }, `${mode} pass@1 `), make("strong", {}, percent(found.pass_at_1)), verdictBar(found.verdicts),
    make("small", {}, Object.entries(found.verdicts).map(([name, count]) => `${name} ${number(count)}`).join(", "))));
  const facts = [["benchmark", run.benchmark], ["model", run.model], ["source", run.source], ["samples", progress(run)],
    ["tokens", run.prompt_tokens + run.completion_tokens ? `${number(run.prompt_tokens)} in, ${number(run.completion_tokens)} out` : ""], ["cost", run.cost === null ? "" : dollars(run.cost)],
    ["no program", run.no_program ? number(run.no_program) : ""], ["faults", run.faults ? number(run.faults) : ""], ["begun", new Date(run.begun).toLocaleString()]];
  return make("section", { class: "summary" }, modes, make("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))));
}

function heads(page, state, change) {
  const shown = COLUMNS.filter(([name]) => (name !== "official" && name !== "standard") || page.modes.includes(name))
    .filter(([name]) => !["turns", "cost", "platform", "difficulty", "completion_tokens", "model_seconds"].includes(name) || page.rows.some((row) => row[name]));
  const row = make("tr", {}, shown.map(([name, label, css]) => {
    const order = { [name]: "ascending", [`-${name}`]: "descending" }[state.sort];
    const next = order === "ascending" ? `-${name}` : order === "descending" ? "" : name;
    return make("th", { scope: "col", class: css, "aria-sort": order }, make("button", { type: "button", onclick: () => change({ sort: next }) }, label));
  }));
  return [shown, row];
}

export async function show(main, state, { again, isCurrent }) {
  const change = (values) => { location.hash = address({ run: state.run, ...filtersOf(state), ...values }); };
  const top = make("div");
  const table = make("div");
  let version = null;

  async function load() {
    const page = await ask("api/samples", { run: state.run, ...filtersOf(state), page: state.page });
    if (!isCurrent()) return;
    const [shown, head] = heads(page, state, change);
    const focused = document.activeElement?.name ?? document.activeElement?.closest?.("tr")?.dataset.key;
    const to = (number_) => ({ ...state, page: number_ });
    const pager = make("p", { class: "pager" },
      page.page > 1 ? link(to(page.page - 1), "← Previous", { rel: "prev" }) : make("span", {}, "← Previous"),
      make("span", { id: "page" }, `Page ${number(page.page)} of ${number(page.pages)}`),
      page.page < page.pages ? link(to(page.page + 1), "Next →", { rel: "next" }) : make("span", {}, "Next →"),
      make("output", { id: "found" }, `${number(page.found)} of ${number(page.total)} samples`));
    const rows = page.rows.map((row) => make("tr", { "data-key": `${row.problem_id} ${row.sample}` }, shown.map(([name]) => cell(name, row, state))));
    table.replaceChildren(filters(page, state, change), pager,
      make("div", { class: "scroll" }, make("table", { id: "samples" }, make("thead", {}, head), make("tbody", {}, rows))),
      make("p", { hidden: rows.length > 0 }, page.total ? "No sample is like that." : "No sample is made yet."));
    version = page.version;
    if (focused) (table.querySelector(`[name="${CSS.escape(focused)}"]`) ?? [...table.querySelectorAll("tr")].find((each) => each.dataset.key === focused)?.querySelector("a"))?.focus();
  }
  async function refresh() {
    const run = await ask("api/run", { run: state.run });
    if (!isCurrent()) return;
    if (run.state === "broken") throw new Error(run.error);
    top.replaceChildren(make("h1", {}, state.run, " ", stateChip(run)), summary(run));
    const typing = ["INPUT", "SELECT"].includes(document.activeElement?.tagName);
    if (run.version !== version && !(typing && version !== null)) await load();
    again(refresh, run.state === "running" ? 2000 : 5000);
  }
  main.replaceChildren(top, table);
  tell("reading …");
  await refresh();
  tell("");
}
