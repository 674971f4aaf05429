/* The page. Its state is the address after #, so that a view can be sent and gone back to. */
import { address, link, make, tell } from "./dom.js";
import * as compare from "./compare.js";
import * as runs from "./runs.js";
import * as sample from "./sample.js";
import * as samples from "./samples.js";

const main = document.getElementById("main");
const dialog = document.getElementById("keys");
let [current, timer, keys, up] = [0, 0, {}, null];

function crumbs(state) {
  const parts = [[{}, "Runs"]];
  if (state.run && !state.with) parts.push([{ run: state.run, ...samples.filtersOf(state) }, state.run]);
  if (state.with) parts.push([{ run: state.run, with: state.with }, `${state.with} against ${state.run}`]);
  else if (state.problem) parts.push([state, `${state.problem} ${state.sample ?? 0}`]);
  document.getElementById("crumbs").replaceChildren(...parts.map(([where, text], i) => link(where, text, { "aria-current": i === parts.length - 1 ? "page" : null })));
  document.title = `${parts.at(-1)[1]} – proctor view`;
  up = parts.at(-2)?.[0] ?? null;
}

async function route() {
  const state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const mine = ++current;
  const isCurrent = () => mine === current;
  clearTimeout(timer);
  keys = {};
  crumbs(state);
  const failed = (error) => {
    if (!isCurrent()) return;
    if (!(error instanceof Error)) throw error;
    tell(error.message, true);
    if (!main.querySelector("h1")) main.replaceChildren(make("p", { class: "warn" }, error.message));
  };
  const again = (refresh, wait) => {
    if (!isCurrent()) return;
    timer = setTimeout(() => {
      if (document.hidden) again(refresh, wait);
      else refresh().then(() => document.getElementById("status").className === "warn" && tell(""), (error) => { failed(error); again(refresh, 4 * wait); });
    }, wait);
  };
  const view = !state.run ? runs : state.with ? compare : state.problem !== undefined ? sample : samples;
  if (view !== route.view) { main.replaceChildren(); window.scrollTo(0, 0); }
  route.view = view;
  await view.show(main, state, { again, isCurrent, keys }).catch(failed);
}

function step(by) {
  const rows = [...main.querySelectorAll("a.row")];
  const at = rows.indexOf(document.activeElement?.closest("tr")?.querySelector("a.row"));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const where = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey || dialog.open) return;
  if (where instanceof HTMLInputElement && where.type === "search" || where instanceof HTMLSelectElement) {
    if (event.key === "Escape") where.blur();
    return;
  }
  const inText = where instanceof HTMLElement && where.tagName === "PRE";
  const list = main.querySelector("a.row") !== null;
  const acts = {
    j: () => (list ? step(1) : keys.next?.()), k: () => (list ? step(-1) : keys.previous?.()),
    ArrowDown: list && !inText && (() => step(1)), ArrowUp: list && !inText && (() => step(-1)),
    ArrowRight: !list && !inText && keys.next, ArrowLeft: !list && !inText && keys.previous,
    u: () => { if (up) location.hash = address(up); },
    "/": () => main.querySelector("input[type=search]")?.focus(), "?": () => dialog.showModal(),
  };
  const act = acts[event.key];
  if (act) { event.preventDefault(); act(); }
});
document.getElementById("help").addEventListener("click", () => dialog.showModal());
window.addEventListener("hashchange", route);
// The token is in a cookie by now: it need not be in addresses that are sent around.
if (location.search) history.replaceState(null, "", `/${location.hash}`);
route();
