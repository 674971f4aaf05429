import { by, make } from "/page/page.js";

const DEEPEST = 6;
const METHODS = ["get", "post", "put", "delete"];

/* A schema as a person would write an example of it. */
function shape(schema, all, depth = 0) {
  if (!schema || depth > DEEPEST) return "…";
  if (schema.$ref) return shape(all[schema.$ref.split("/").pop()], all, depth);
  const several = schema.oneOf || schema.anyOf;
  if (several) return shape(several.find((each) => each.type !== "null") || several[0], all, depth);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.const !== undefined) return schema.const;
  if (schema.type === "array") return [shape(schema.items, all, depth + 1)];
  if (schema.properties) {
    const needed = new Set(schema.required || []);
    return Object.fromEntries(Object.entries(schema.properties).map(([name, value]) =>
      [needed.has(name) ? name : `${name}?`, shape(value, all, depth + 1)]));
  }
  return schema.type || "any";
}

function body(title, content, all) {
  const schema = content?.["application/json"]?.schema;
  if (!schema) return [];
  return [make("label", {}, title), make("pre", {}, JSON.stringify(shape(schema, all), null, 2))];
}

function route(path, method, about, all) {
  const parameters = (about.parameters || []).map((each) =>
    make("li", {}, make("code", {}, each.name), ` in ${each.in}${each.required ? ", required" : ""}`));
  const answers = Object.entries(about.responses || {}).filter(([status]) => status < "300");
  return make("details", { "data-text": `${method} ${path} ${about.description || ""}`.toLowerCase() },
    make("summary", {}, make("code", {}, `${method.toUpperCase()} ${path}`),
      make("span", { class: "quiet" }, (about.description || about.summary || "").split("\n")[0])),
    parameters.length ? make("ul", {}, parameters) : null,
    body("Request", about.requestBody?.content, all),
    answers.flatMap(([status, answer]) => body(`Answer ${status}`, answer.content, all)));
}

const found = await (await fetch("/openapi.json")).json();
const groups = new Map();
for (const [path, methods] of Object.entries(found.paths)) {
  for (const method of METHODS.filter((each) => methods[each])) {
    const about = methods[method];
    const group = about.tags?.[0] || "The server";
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(route(path, method, about, found.components.schemas));
  }
}
by("routes").replaceChildren(...[...groups].map(([name, routes]) => make("section", {}, make("h1", {}, name), routes)));

by("find").addEventListener("input", () => {
  const wanted = by("find").value.toLowerCase();
  for (const each of document.querySelectorAll("details")) each.hidden = !each.dataset.text.includes(wanted);
  for (const each of document.querySelectorAll("section")) each.hidden = !each.querySelector("details:not([hidden])");
});
