/* Elements, texts and requests. Whatever a model, a program or a problem says becomes a text node:
   nothing here makes markup of a string. */

// Control characters, marks of writing direction and lone surrogates: shown by number, not obeyed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u{e0000}-\u{e007f}]/gu;

export function visible(text) {
  return String(text).replace(CONTROLS, (c) => `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

export function link(state, content, properties = {}) {
  return make("a", { href: address(state), ...properties }, content);
}

export function address(state) {
  const kept = Object.entries(state).filter(([name, value]) =>
    value !== "" && value !== null && value !== undefined && !(name === "page" && Number(value) === 1));
  return `#${new URLSearchParams(kept)}`;
}

export function query(path, parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? `${path}?${new URLSearchParams(kept)}` : path;
}

export async function ask(path, parameters = {}, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(query(path, parameters), options);
  } catch {
    throw new Error("proctor view does not answer: was it ended?");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.detail || found.title);
  return found;
}

export function verdict(name, mode) {
  if (!name) return make("span", { class: "none" }, "–");
  const css = `verdict v v-${name.toLowerCase().replace(/[^a-z]/g, "-")}`;
  return make("span", { class: css, title: mode ? `by ${mode} rules` : null }, name);
}

export const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);
export const seconds = (value) => (!value ? "–" : value < 0.1 ? `${(1000 * value).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(value < 10 ? 2 : 0)} s`);
export const counted = (value) => (value ? number(value) : "–");
export const dollars = (value) => (value === null || value === undefined ? "–" : `$${value.toPrecision(3)}`);
export const mebibytes = (value) => (value ? `${(value / 1048576).toFixed(0)} MiB` : "");

export function tell(text, wrong = false) {
  const status = document.getElementById("status");
  status.textContent = visible(text);
  status.className = wrong ? "warn" : "";
}

/* A text in a frame of its own, with its title and, where it is cut, a link to the whole. */
export function textBlock(title, cut, whole, more = {}) {
  const { marks, unit = "characters", ...properties } = more;
  const pre = make("pre", { tabindex: 0, "aria-label": title, ...properties });
  if (marks) pre.append(...marks);
  else pre.textContent = cut.size ? visible(cut.text) : "";
  if (!cut.size) pre.classList.add("empty");
  const head = make("figcaption", {}, make("span", { class: "what" }, title),
    make("span", { class: "size" }, cut.size ? `${number(cut.size)} ${unit}` : "empty"),
    cut.is_cut && make("span", { class: "warn" }, "cut here; ", make("a", { href: query("api/text", whole), target: "_blank", rel: "noopener" }, "the whole text")));
  return make("figure", { class: "text" }, head, pre);
}

/* The lines of one text; those outside a longest common subsequence with the other are marked. */
export function markedLines(mine, other) {
  const [a, b] = [mine, other].map((text) => text.replace(/\n$/, "").split("\n"));
  const kept = new Set();
  let [first, enda, endb] = [0, a.length, b.length];
  while (first < enda && first < endb && a[first] === b[first]) kept.add(first++);
  while (enda > first && endb > first && a[enda - 1] === b[endb - 1]) { kept.add(--enda); --endb; }
  const [m, n] = [enda - first, endb - first];
  if (m * n > 4e6) return null;
  const lengths = Array.from({ length: m + 1 }, () => new Uint16Array(n + 1));
  for (let i = m - 1; i >= 0; i--) {
    for (let j = n - 1; j >= 0; j--) {
      lengths[i][j] = a[first + i] === b[first + j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  for (let i = 0, j = 0; i < m && j < n;) {
    if (a[first + i] === b[first + j]) { kept.add(first + i); i++; j++; }
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return a.map((line, i) => make("span", kept.has(i) ? {} : { class: "differs" }, `${line}\n`));
}
