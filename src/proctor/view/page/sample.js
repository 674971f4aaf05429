/* One sample: what was asked, what came back, how it was judged. */
import { address, ask, link, make, markedLines, mebibytes, number, seconds, tell, textBlock, verdict } from "./dom.js";
import { filtersOf } from "./samples.js";

const NAMES = { prompt_tokens: "prompt tokens", completion_tokens: "completion tokens", reasoning_tokens: "reasoning tokens",
  cached_tokens: "cached tokens", seconds: "model", rule: "found by rule", policy: "policy", no_program: "no program",
  finish_reason: "reply ended by", stop_reason: "agent stopped by", turns: "turns", fault: "fault" };
const REMOTE = /^huggingface(:|$)/;

const closed = (title, content, open = false) => make("details", { open }, make("summary", {}, title), content);

function facts(view) {
  const values = { ...view.problem, ...view.facts };
  const shown = ["platform", "difficulty", "published", "contest", ...Object.keys(NAMES)].filter((name) => values[name]);
  const said = (name) => (name === "seconds" ? seconds(values[name]) : typeof values[name] === "number" ? number(values[name]) : values[name]);
  return make("dl", { class: "facts" }, shown.map((name) => make("div", {}, make("dt", {}, NAMES[name] ?? name), make("dd", {}, said(name)))));
}

function testLine(name, outcome, now) {
  return make("summary", {}, verdict(outcome?.verdict), now && now.verdict !== outcome?.verdict && make("span", {}, "now ", verdict(now.verdict)),
    make("span", { class: "name" }, `test ${name}`),
    outcome && make("span", { class: "quiet-text" }, [seconds(outcome.cpu), mebibytes(outcome.memory)].filter(Boolean).join(", ")),
    !outcome && make("span", { class: "quiet-text" }, "not run"),
    make("span", { class: "message" }, (now ?? outcome)?.message ?? ""));
}

/* Unit tests come as JSON that holds their code. */
function codeOf(text) {
  try {
    const found = text.startsWith("{") ? JSON.parse(text).code : null;
    return typeof found === "string" ? found : null;
  } catch {
    return null;
  }
}

/* One test; contents and the replay's output where they are known. */
function testEntry(name, line, contents, replayed, whole, open) {
  const outcome = line ?? contents?.outcome;
  const parts = make("div", { class: "test" });
  const wide = make("details", { class: "one-test", open }, testLine(name, outcome, replayed?.now), parts);
  if (!contents) { parts.append(make("p", { class: "note" }, "Its contents are not loaded.")); return wide; }
  if (contents.gone) { parts.append(make("p", { class: "warn" }, contents.gone)); return wide; }
  const address_ = (part) => ({ ...whole, test: contents.name, part });
  const [expected, output] = [contents.expected, replayed?.output];
  const marks = (mine, other) => (mine && other && mine.text !== other.text ? markedLines(mine.text, other.text) : null);
  const code = codeOf(contents.input.text);
  if (code) parts.append(textBlock("code of the tests", { text: code, size: code.length }, {}));
  parts.append(textBlock("input", contents.input, address_("input"), { unit: "bytes" }));
  if (expected) parts.append(textBlock("expected", expected, address_("expected"), { unit: "bytes", marks: marks(expected, output) }));
  if (output) parts.append(textBlock("output when judged again", output, address_("output"), { unit: "bytes", marks: marks(output, expected) }));
  else if (replayed?.now) parts.append(make("p", { class: "note" }, "No output to show."));
  return wide;
}

function judgementOf(view, mode, tabs) {
  const judged = view.judgements.find((each) => each.mode === mode);
  const own = { run: view.run, problem: view.problem.id, sample: view.sample };
  const key = { ...own, mode };
  const list = make("div", { class: "tests" });
  const note = make("p", { class: "note", hidden: true });
  const replayed = make("div", { "aria-live": "polite" });
  const button = make("button", { type: "button", id: "again" }, "Judge again");
  const more = make("button", { type: "button", hidden: true }, "More tests");
  let [contents, made, total] = [[], new Map(), 0];

  function draw() {
    // A test's own name, or its position where results were recorded without names.
    const known = new Map(contents.map((each) => [each.outcome?.name ?? each.name, each]));
    const names = new Set([...known.keys(), ...judged.tests.map((each) => each.name)]);
    const lines = new Map(judged.tests.map((each) => [each.name, each]));
    const opened = new Set([...list.querySelectorAll("details[open]")].map((each) => each.dataset.name));
    const first = judged.tests.find((each) => each.verdict !== "AC")?.name ?? judged.tests[0]?.name;
    const begun = list.childElementCount > 0;
    list.replaceChildren(...[...names].map((name) => {
      const entry = testEntry(name, lines.get(name), known.get(name), made.get(name), key, begun ? opened.has(name) : name === first);
      entry.dataset.name = name;
      return entry;
    }));
    more.hidden = !contents.length || contents.length >= total;
    more.textContent = `More tests (${number(contents.length)} of ${number(total)} shown)`;
  }
  async function load() {
    note.hidden = true;
    try {
      const page = await ask("api/tests", { ...key, begin: contents.length });
      contents = [...contents, ...page.tests];
      total = page.total;
    } catch (error) {
      note.replaceChildren("Inputs and outputs of the tests cannot be shown: ", make("span", { class: "warn" }, error.message));
      note.hidden = false;
    }
    draw();
  }
  function shown(state) {
    const mine = state.target && Object.entries(key).every(([name, value]) => String(state.target[name]) === String(value));
    button.disabled = state.state === "running";
    if (!mine) return;
    if (state.state === "running") replayed.replaceChildren(make("p", { class: "note" }, "being judged again …"));
    else if (state.state === "failed") replayed.replaceChildren(make("p", { class: "warn" }, state.said));
    else {
      made = new Map(state.tests.map((each) => [each.name, each]));
      const rows = state.surroundings.map(([name, then, now]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "wrap" }, then), make("td", { class: "wrap" }, now)));
      replayed.replaceChildren(make("p", { id: "said" }, make("b", {}, state.said), " ", state.message && state.message !== judged.message.text && make("span", { class: "note" }, state.message)),
        closed("Versions and machine, then and now", make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, rows)))));
      draw();
    }
  }
  async function follow() {
    const state = await ask("api/replay");
    if (!list.isConnected) return;
    shown(state);
    if (state.state === "running") setTimeout(() => follow().catch((error) => tell(error.message, true)), 500);
  }
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      shown(await ask("api/replay", {}, { ...own, sample: Number(own.sample), mode }));
      await follow();
    } catch (error) {
      button.disabled = false;
      replayed.replaceChildren(make("p", { class: "warn" }, error.message));
    }
  });
  more.addEventListener("click", load);

  const recorded = Object.entries(view.recorded).map(([name, text]) =>
    textBlock(name === "actual" ? "printed" : name, { text, size: text.length }, {}, name === "input" ? {} : { marks: view.recorded.expected && view.recorded.actual ? markedLines(text, view.recorded[name === "actual" ? "expected" : "actual"]) : null }));
  const section = make("section", { id: "judgement" },
    make("div", { class: "line" }, tabs, button),
    make("p", { class: "note" }, `By ${mode} rules: score ${judged.score.toFixed(2)}, ${seconds(judged.cpu)} CPU`,
      judged.slowest_share === null ? "" : `, slowest test ${Math.round(100 * judged.slowest_share)} % of the limit`, judged.level ? `, isolation ${judged.level}` : "", "."),
    judged.message.size > 0 && textBlock("message", judged.message, { ...own, part: `message.${mode}` }),
    judged.earlier.length > 0 && make("p", {}, "Earlier rounds: ", judged.earlier.map((each) => verdict(each))),
    judged.unreadable && make("p", { class: "warn" }, `Results of its tests cannot be read: ${judged.unreadable}`),
    mode === "official" && recorded.length > 0 && closed("First failing test, as recorded", make("div", { class: "test" }, recorded)),
    replayed, note, list, judged.tests_run > judged.tests.length && make("p", { class: "note" }, `${number(judged.tests_run)} tests were run; ${judged.tests.length} are listed.`), more);
  draw();
  if (REMOTE.test(view.source)) {
    const fetch_ = make("button", { type: "button", onclick: () => { fetch_.remove(); load(); } }, `Load the tests from ${view.source}`);
    note.replaceChildren(fetch_);
    note.hidden = false;
  } else load();
  follow().catch((error) => tell(error.message, true));
  return section;
}

function said(each, own) {
  const text = (title, cut) => textBlock(title, cut, { ...own, part: cut.part });
  return make("div", { class: "turn" }, each.reasoning && closed(`${each.who}: reasoning`, text("reasoning", each.reasoning)), text(each.who, each.content), each.arguments && text(`${each.who}: calls`, each.arguments));
}

export async function show(main, state, { isCurrent, keys }) {
  tell("reading …");
  const view = await ask("api/sample", { run: state.run, ...filtersOf(state), problem: state.problem, sample: state.sample });
  if (!isCurrent()) return;
  tell("");
  const own = { run: view.run, problem: view.problem.id, sample: view.sample };
  const at = (key) => key && { run: state.run, ...filtersOf(state), problem: key[0], sample: key[1], rules: state.rules };
  const step = (key, text, rel) => (key ? link(at(key), text, { rel }) : make("span", {}, text));
  keys.next = () => { if (view.next) location.hash = address(at(view.next)); };
  keys.previous = () => { if (view.previous) location.hash = address(at(view.previous)); };
  const modes = view.judgements.map((each) => each.mode);
  const mode = modes.includes(state.rules) ? state.rules : modes.at(-1);
  const tabs = make("div", { class: "tabs", role: "group", "aria-label": "Rules" }, view.judgements.map((each) =>
    link({ ...state, rules: each.mode }, [make("span", {}, each.mode), " ", verdict(each.verdict)], { "aria-current": each.mode === mode ? "true" : null })));
  const block = (title, cut, more) => textBlock(title, cut, { ...own, part: cut.part }, more);
  const left = make("div", { class: "column" },
    view.fault_message && make("p", { class: "warn" }, view.fault_message),
    view.program.size > 0 ? block("program", view.program, { class: "tall" }) : make("p", { class: "note" }, `No program${view.facts.no_program ? `: ${view.facts.no_program}` : ""}.`),
    view.turns.length > 0 && closed(`Turns of the agent (${view.turns.length})`, view.turns.map((each) => said(each, own)), true),
    view.reasoning.size > 0 && closed("Reasoning", block("reasoning", view.reasoning)),
    (view.reply.size > 0 || !(view.turns.length || view.program.size)) && block("reply", view.reply),
    view.prompt.length > 0 && closed(`Prompt (${view.prompt.length} ${view.prompt.length === 1 ? "message" : "messages"})`, view.prompt.map((each) => said(each, own))));
  const right = make("div", { class: "column" }, mode ? judgementOf(view, mode, tabs) : make("p", { class: "note" }, "Not judged."));
  main.replaceChildren(
    make("div", { class: "title" }, make("h1", {}, view.problem.title || view.problem.id, make("small", {}, `${view.problem.id}, sample ${view.sample}`)),
      make("p", { class: "pager" }, step(view.previous, "← Previous", "prev"), make("span", { id: "position" }, view.position ? `${number(view.position)} of ${number(view.found)}` : "not among those chosen"), step(view.next, "Next →", "next"))),
    facts(view), make("div", { class: "columns" }, left, right));
}
