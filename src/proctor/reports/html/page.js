"use strict";
/* The table of samples and the release window. Rows are made a page at a time, always as text
   nodes: whatever a problem or a model is called, it is never markup. The state is in the address,
   as #q=...&verdict=...&difficulty=...&sort=...&page=...&open=...&from=...&to=..., so that a view can be sent. */
(() => {
  const PAGE = 50;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  // A row holds the numbers of its run and problem; here they are replaced by what they stand for.
  data.rows = data.rows.map(([run, problem, ...rest]) => [data.runs[run], ...data.problems[problem], ...rest]);
  const at = Object.fromEntries(data.columns.map((name, i) => [name, i]));
  const NUMERIC = new Set(["sample", "limit", "tokens", "cost"]);
  const WORDS = data.columns.map((_, i) => i).filter((i) => !NUMERIC.has(data.columns[i]));
  const VERDICTS = new Set(["official", "standard"]);
  const state = { q: "", verdict: "", difficulty: "", sort: "", page: 1, open: "", from: "", to: "" };
  const shown = data.columns.filter((_, i) => data.rows.some((row) => row[i] !== null && row[i] !== ""))
    .filter((name) => name !== "run" || data.runs.length > 1);
  // Parsed when a row is first opened: most pages have far more text here than is ever read.
  let details = null;
  const detailed = byId("details").textContent !== "{}";
  const detailOf = (i) => (details ??= JSON.parse(byId("details").textContent))[i];
  let haystacks = null;

  const text = (name, value) => {
    if (value === null || value === "") return "";
    if (name === "limit") return `${Math.round(100 * value)} %`;
    if (name === "cost") return `$${value}`;
    return String(value);
  };
  const make = (tag, content, css) => {
    const element = document.createElement(tag);
    if (content !== undefined) element.textContent = content;
    if (css) element.className = css;
    return element;
  };

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of Object.keys(state)) state[name] = given.get(name) ?? "";
    state.page = Math.max(1, Number.parseInt(state.page, 10) || 1);
    for (const name of ["q", "verdict", "difficulty"]) byId(name).value = state[name];
  }
  function write() {
    const kept = Object.entries(state).filter(([name, value]) => value && !(name === "page" && value === 1));
    const hash = new URLSearchParams(kept).toString();
    history.replaceState(null, "", hash ? `#${hash}` : "#samples");
  }
  function matching() {
    const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) haystacks ??= data.rows.map((row) => WORDS.map((i) => row[i]).join(" ").toLowerCase());
    const found = [];
    data.rows.forEach((row, i) => {
      if (state.verdict && row[at.official] !== state.verdict && row[at.standard] !== state.verdict) return;
      if (state.difficulty && row[at.difficulty] !== state.difficulty) return;
      if (terms.every((term) => haystacks[i].includes(term))) found.push(i);
    });
    const column = at[state.sort.replace(/^-/, "")];
    if (column !== undefined) {
      const sign = state.sort.startsWith("-") ? -1 : 1;
      found.sort((a, b) => {
        const [x, y] = [data.rows[a][column], data.rows[b][column]];
        if (x === y) return 0;
        if (x === null || x === "") return 1;
        if (y === null || y === "") return -1;
        return x < y ? -sign : sign;
      });
    }
    return found;
  }
  function draw() {
    const found = matching();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(state.page, pages);
    byId("rows").replaceChildren(...found.slice((state.page - 1) * PAGE, state.page * PAGE).flatMap((i) => {
      const row = data.rows[i];
      const open = state.open === String(i);
      const line = make("tr");
      for (const name of shown) {
        const cell = make("td", undefined, NUMERIC.has(name) ? "n" : name);
        if (NUMERIC.has(name) || VERDICTS.has(name)) cell.dataset.name = name; // shown where there are no columns
        const value = row[at[name]];
        if (VERDICTS.has(name) && value) {
          cell.append(make("span", value, `verdict v v-${value.toLowerCase().replace("_", "-")}`));
        } else if (name === "problem" && detailed) {
          const button = make("button", value, "open");
          button.type = "button";
          button.setAttribute("aria-expanded", String(open));
          button.addEventListener("click", () => change({ open: open ? "" : String(i), page: state.page }));
          cell.append(button);
        } else {
          cell.textContent = text(name, value);
        }
        line.append(cell);
      }
      return open ? [line, opened(i)] : [line];
    }));
    hints();
    byId("found").textContent = `${found.length} of ${data.rows.length}`;
    byId("page").textContent = `Page ${state.page} of ${pages}`;
    byId("previous").disabled = state.page === 1;
    byId("next").disabled = state.page === pages;
    for (const head of byId("heads").children) {
      const order = { [head.dataset.name]: "ascending", [`-${head.dataset.name}`]: "descending" }[state.sort];
      if (order) head.setAttribute("aria-sort", order); else head.removeAttribute("aria-sort");
    }
  }
  function opened(i) {
    const line = make("tr", undefined, "detail");
    const cell = make("td");
    cell.colSpan = shown.length;
    const detail = detailOf(i);
    const { code = "", reply = "", message = "", input = "", expected = "", actual = "" } = detail ?? {};
    const part = (title, content) => {
      const block = make("div");
      const pre = make("pre");
      pre.tabIndex = 0;
      pre.append(...[content].flat());
      block.append(make("h4", title), pre);
      return block;
    };
    if (message) cell.append(make("p", message));
    if (expected || actual) {
      const [right, wrong] = [expected, actual].map((one) => one.replace(/\n$/, "").split("\n"));
      const lines = (mine, other) => mine.map((one, k) => make("span", one + "\n", one === other[k] ? "" : "differs"));
      const test = make("div", undefined, "test");
      if (input) test.append(part("input", input));
      test.append(part("expected", lines(right, wrong)), part("printed", lines(wrong, right)));
      cell.append(test);
    } else if (input) cell.append(part("input", input));
    if (detail) cell.append(code || !reply ? part("program", code || "no code") : part("reply, with no program in it", reply));
    else cell.append(make("p", "Not in this page."));
    line.append(cell);
    return line;
  }
  function change(values) {
    Object.assign(state, { page: 1 }, values);
    draw();
    write();
  }

  function samples() {
    for (const name of shown) {
      const head = make("th", undefined, NUMERIC.has(name) ? "n" : "");
      head.scope = "col";
      head.dataset.name = name;
      const button = make("button", name);
      button.type = "button";
      button.addEventListener("click", () => change({ sort: state.sort === name ? `-${name}` : name }));
      head.append(button);
      byId("heads").append(head);
    }
    const options = (id, columns) => {
      const values = new Set(data.rows.flatMap((row) => columns.map((name) => row[at[name]])));
      for (const value of [...values].filter(Boolean).sort()) byId(id).append(make("option", value));
      byId(id).addEventListener("change", () => change({ [id]: byId(id).value }));
    };
    options("verdict", ["official", "standard"]);
    options("difficulty", ["difficulty"]);
    byId("q").addEventListener("input", () => change({ q: byId("q").value }));
    byId("filter").addEventListener("submit", (event) => event.preventDefault());
    byId("previous").addEventListener("click", () => change({ page: state.page - 1 }));
    byId("next").addEventListener("click", () => change({ page: state.page + 1 }));
    // The page's own links have no state in them and leave what is shown as it is.
    addEventListener("hashchange", () => {
      if (!location.hash.includes("=")) return;
      read();
      draw();
      byId("samples").scrollIntoView({ behavior: "instant" });
    });
    read();
    draw();
    for (const id of ["filter", "table", "pager"]) byId(id).hidden = false;
    if (state.q || state.verdict || state.difficulty || state.open) byId("samples").scrollIntoView({ behavior: "instant" });
  }

  function releaseWindow() {
    const form = byId("window");
    if (!form) return;
    const { months, values } = data.windows;
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    const ends = { from: byId("from"), to: byId("to") };
    const place = (end, otherwise) => {
      ends[end].value = months.includes(state[end]) ? months.indexOf(state[end]) : otherwise;
    };
    const update = (moved) => {
      let [from, to] = [Number(ends.from.value), Number(ends.to.value)];
      if (from > to) {
        if (moved === "from") ends.to.value = to = from; else ends.from.value = from = to;
      }
      byId("from-month").textContent = months[from];
      byId("to-month").textContent = months[to];
      byId("window-rows").replaceChildren(...data.runs.map((name, i) => {
        const [value, low, high, problems, clusters] = values[i][from][to - from] ?? [];
        const line = make("tr");
        const head = make("th", name);
        head.scope = "row";
        const interval = low == null ? "–" : `${(100 * low).toFixed(1)} to ${percent(high)}`;
        const cells = [value === undefined ? "–" : percent(value), interval, problems ?? 0, clusters ?? 0];
        line.append(head, ...cells.map((cell) => make("td", cell, "n")));
        return line;
      }));
    };
    for (const end of ["from", "to"]) ends[end].addEventListener("input", () => {
      update(end);
      state.from = ends.from.value === "0" ? "" : months[ends.from.value];
      state.to = Number(ends.to.value) === months.length - 1 ? "" : months[ends.to.value];
      write();
    });
    place("from", 0);
    place("to", months.length - 1);
    update("from");
    form.hidden = false;
  }

  function hints() {
    for (const each of document.querySelectorAll(".scroll, .chart")) {
      each.classList.toggle("scrolls", each.scrollWidth > each.clientWidth + 1);
    }
  }

  if (byId("samples")) samples();
  releaseWindow();
  hints();
  addEventListener("resize", hints);
  document.addEventListener("toggle", hints, true);
})();
