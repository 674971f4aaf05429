/* The list of runs. */
import { address, ask, counted, dollars, link, make, number, percent } from "./dom.js";

const STATES = { running: "running", stopped: "not finished", done: "finished", broken: "cannot be read", uncounted: "…" };

export const stateChip = (run) => make("span", { class: `state state-${run.state}` }, STATES[run.state]);

export function verdictBar(verdicts) {
  const total = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const said = Object.entries(verdicts).map(([name, count]) => `${name} ${number(count)}`).join(", ");
  const bar = make("span", { class: "bar", role: "img", "aria-label": said, title: said });
  for (const [name, count] of Object.entries(verdicts)) {
    const part = make("i", { class: `v v-${name.toLowerCase().replace("_", "-")}` });
    part.style.flexGrow = String(count / total);
    bar.append(part);
  }
  return bar;
}

function score(run, mode) {
  const found = run.modes?.[mode];
  if (!found) return make("td", { class: "n" }, run.modes ? "–" : "…");
  return make("td", { class: "score" }, make("b", {}, percent(found.pass_at_1)), verdictBar(found.verdicts));
}

export const progress = (run) => `${run.done === null ? "…" : number(run.done)} of ${number(run.total)}`;

function row(run, modes, chosen, choose) {
  if (run.state === "broken") {
    return make("tr", { "data-key": run.name, class: "broken" }, make("td"), make("th", { scope: "row" }, run.name, " ", stateChip(run)),
      make("td", { colspan: 6 + modes.length, class: "wrap" }, run.error));
  }
  const box = make("input", { type: "checkbox", "aria-label": `choose ${run.name} to compare`, onchange: () => choose(run.name, box.checked) });
  box.checked = chosen.includes(run.name);
  return make("tr", { "data-key": run.name }, make("td", {}, box),
    make("th", { scope: "row" }, link({ run: run.name }, run.name, { class: "row" }), " ", stateChip(run),
      make("small", {}, [run.benchmark, run.model].filter(Boolean).join(" · "), make("span", { class: "slim" }, ` · ${progress(run)}`))),
    make("td", { class: "n roomy" }, progress(run)),
    modes.map((mode) => score(run, mode)),
    make("td", { class: "n wide" }, counted(run.no_program)), make("td", { class: "n wide" }, counted(run.faults)),
    make("td", { class: "n wide" }, counted(run.prompt_tokens + run.completion_tokens)),
    make("td", { class: "n wide" }, dollars(run.cost)),
    make("td", { class: "wide" }, new Date(run.changed).toLocaleString()));
}

export async function show(main, state, { again, isCurrent }) {
  let before = "";
  let chosen = [];
  const [heads, body] = [make("thead"), make("tbody")];
  const compare = make("button", { type: "button", disabled: true, onclick: () => { location.hash = address({ run: chosen[0], with: chosen[1] }); } }, "Compare two runs");
  const choose = (name, on) => {
    chosen = on ? [...chosen, name].slice(-2) : chosen.filter((each) => each !== name);
    for (const box of body.querySelectorAll("input")) box.checked = chosen.includes(box.closest("tr").dataset.key);
    compare.disabled = chosen.length < 2;
    compare.textContent = chosen.length === 2 ? `Compare ${chosen[1]} with ${chosen[0]}` : "Compare two runs";
  };
  const head = (modes) => make("tr", {}, make("th", {}, make("span", { class: "quiet" }, "choose")),
    ...[["run"], ["samples", "n roomy"], ...modes.map((mode) => [`${mode} pass@1`]), ["no program", "n wide"], ["faults", "n wide"],
      ["tokens", "n wide"], ["cost", "n wide"], ["last change", "wide"]]
      .map(([name, css]) => make("th", { scope: "col", class: css }, name)));
  const table = make("table", { id: "runs" }, heads, body);
  const nothing = make("p", { hidden: true }, "There is no run here yet. One appears when it begins.");

  async function refresh() {
    const runs = await ask("api/runs");
    if (!isCurrent()) return;
    const now = JSON.stringify(runs);
    if (now !== before) {
      before = now;
      const focused = document.activeElement?.closest?.("tr")?.dataset.key;
      const on = document.activeElement?.tagName;
      const modes = ["official", "standard"].filter((mode) => runs.some((run) => run.modes?.[mode]));
      heads.replaceChildren(head(modes));
      body.replaceChildren(...runs.map((run) => row(run, modes, chosen, choose)));
      nothing.hidden = runs.length > 0;
      table.hidden = !runs.length;
      if (focused !== undefined) [...body.children].find((each) => each.dataset.key === focused)?.querySelector(on)?.focus();
    }
    again(refresh, runs.some((run) => run.state === "uncounted") ? 300 : runs.some((run) => run.state === "running") ? 2000 : 4000);
  }
  main.replaceChildren(make("h1", {}, "Runs"), make("div", { class: "tools" }, compare), make("div", { class: "scroll" }, table), nothing);
  await refresh();
}
