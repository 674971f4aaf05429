import { by, make } from "/page/page.js";

const here = location.origin;
const APIS = [
  ["proctor's own clients", "/v1", `proctor.clients.connect("${here}")`],
  ["agents that speak MCP", "/mcp", `{"url": "${here}/mcp"}`],
  ["SandboxFusion", "/run_code", `SANDBOX_FUSION_ENDPOINT=${here}`],
  ["Piston, open-r1", "/api/v2", `PISTON_ENDPOINTS=${here}/api/v2`],
  ["Judge0 CE", "/submissions", `JUDGE0_CE_ENDPOINT=${here} JUDGE0_CE_AUTH_HEADERS='{}'`],
  ["Judge0 Extra CE", "/judge0-extra", `JUDGE0_EXTRA_CE_ENDPOINT=${here}/judge0-extra JUDGE0_EXTRA_CE_AUTH_HEADERS='{}'`],
  ["E2B", "/e2b", `E2B_API_URL=${here}/e2b E2B_SANDBOX_URL=${here}/e2b E2B_API_KEY=any`],
  ["NeMo-Skills", "/execute", `NEMO_SKILLS_SANDBOX_HOST=${location.hostname} NEMO_SKILLS_SANDBOX_PORT=${location.port}`],
  ["Tack Timetable", "/python-execute", here],
];
let token = "";

async function ask(path, body) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const options = body
    ? { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) }
    : { headers };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer.");
  }
  by("access").hidden = answer.status !== 401;
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.detail || found.title || `status ${answer.status}`);
  return found;
}

async function begin() {
  try {
    const about = await ask("/v1/capabilities");
    by("about").textContent = `${about.version} · isolation: ${about.isolation} · ${about.running} of ${about.places} places in use`;
    const select = by("language");
    const chosen = select.value;
    const known = await ask("/v1/languages");
    select.replaceChildren(...known.map((each) => make("option", { value: each.id, title: each.version }, each.name)));
    select.value = chosen;
  } catch (error) {
    by("about").textContent = error.message;
  }
}

function show(found) {
  const ran = found.execution;
  const parts = [make("p", { class: `verdict ${found.verdict === "OK" ? "good" : "bad"}` }, found.verdict || found.outcome)];
  if (ran) {
    const end = ran.signal ? `signal ${ran.signal}` : `exit code ${ran.exit_code}`;
    parts.push(make("p", { class: "quiet" }, `${end} · ${(1000 * ran.cpu).toFixed(1)} ms of CPU · ${(ran.memory / 1048576).toFixed(1)} MiB · ${found.isolation}`));
  }
  const texts = [
    ["Compiler", found.compilation?.output],
    ["Output", ran && (ran.stdout.text ?? `base64: ${ran.stdout.base64}`)],
    ["Errors", ran && (ran.stderr.text ?? `base64: ${ran.stderr.base64}`)],
  ];
  for (const [name, text] of texts) {
    if (text) parts.push(make("label", {}, name), make("pre", {}, text));
  }
  by("result").replaceChildren(...parts);
}

by("run").addEventListener("submit", async (event) => {
  event.preventDefault();
  by("go").disabled = true;
  by("result").replaceChildren(make("p", { class: "quiet" }, "Running …"));
  try {
    show(await ask("/v1/run", {
      program: { source: by("source").value, language: by("language").value },
      stdin: by("stdin").value,
    }));
  } catch (error) {
    by("result").replaceChildren(make("p", { class: "bad" }, error.message));
  }
  by("go").disabled = false;
});

by("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = by("token").value;
  begin();
});

by("apis").append(...APIS.map(([name, path, setting]) =>
  make("tr", {}, make("td", {}, name), make("td", {}, make("code", {}, path)), make("td", {}, make("code", {}, setting)))));
begin();
