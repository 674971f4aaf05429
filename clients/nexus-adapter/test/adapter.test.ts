// The whole way: problems from proctor-nexus, a stub of a model's server, programs in real cells.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";

import {
  type BenchmarkAdapter,
  composeUserPrompt,
  createOpenAIAdapter,
  extractPythonCode,
  getSystemPrompt,
  LiveCodeBenchAdapter,
  loadLiveCodeBenchInstances,
  type ModelAdapter,
  runBenchmark,
} from "proctor-nexus-adapter";

const DIR = process.env["PROCTOR_TEST_DIR"] ?? "";
const BUNDLED = process.env["PROCTOR_TEST_PROGRAMS"] ?? "";
const options = { proctorDir: DIR };

/** A program for a problem that the first line of a prompt names: right, or labelled otherwise. */
function program(prompt: string, verdict = "AC"): string {
  const id = /^Problem (\S+)/m.exec(prompt)?.[1];
  for (const line of readFileSync(BUNDLED, "utf8").split("\n")) {
    if (!line) continue;
    const row = JSON.parse(line) as { question_id: string; code: string; label: { standard: string } };
    if (row.question_id === id && row.label.standard === verdict) return row.code;
  }
  throw new Error(`no ${verdict} program for ${id}`);
}

const fenced = (code: string) => `Here it is.\n\`\`\`python\n${code}\n\`\`\`\n`;
const saying = (reply: (prompt: string) => string): ModelAdapter => ({
  complete: async ({ messages }) => ({ content: reply(messages.at(-1)?.content ?? "") }),
});

describe("against a model's server", () => {
  let server: Server;
  let baseURL: string;
  let failing = 1;
  const asked: { model: string; authorization: string | undefined; system: string }[] = [];
  before(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        if (failing-- > 0) return void response.writeHead(503).end("busy");
        const { model, messages } = JSON.parse(body);
        const { authorization } = request.headers;
        asked.push({ model, authorization, system: messages[0].content });
        const content = fenced(program(messages[1].content));
        const usage = { prompt_tokens: 10, completion_tokens: 5 };
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify({ choices: [{ message: { content } }], usage }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  });
  after(() => server.close());

  it("gives a right model all four, and adds up", async () => {
    const model = createOpenAIAdapter({ baseURL, apiKey: "secret", modelId: "stub" });
    const adapter = new LiveCodeBenchAdapter(model, options);
    const seen: number[] = [];
    const summary = await runBenchmark(adapter, {}, {
      concurrency: 2,
      onProgress: (done, total) => seen.push(done, total),
    });
    await adapter.close();
    assert.deepEqual([summary.name, summary.variant], ["livecodebench", "code_generation"]);
    assert.deepEqual([summary.total, summary.passed, summary.passRate], [4, 4, 1]);
    assert.deepEqual(summary.metadata.byPlatform["leetcode"], { total: 2, passed: 2, passRate: 1 });
    assert.deepEqual(Object.keys(summary.metadata.byDifficulty), ["easy", "hard", "medium"]);
    assert.deepEqual(summary.metadata.tokens, { inputTokens: 40, outputTokens: 20 });
    assert(summary.runTimeMs > 0);
    assert.deepEqual(seen, [1, 4, 2, 4, 3, 4, 4, 4]);
    assert.equal(asked.length, 4, "one was busy, and was asked again");
    assert.deepEqual(asked[0], {
      model: "stub", authorization: "Bearer secret", system: getSystemPrompt(),
    });
  });

  it("says what a server that refuses has said", async () => {
    const model = createOpenAIAdapter({ baseURL: `${baseURL}nowhere`, modelId: "x", attempts: 1 });
    failing = 1;
    await assert.rejects(model.complete({ messages: [] }), /answers 503: busy/);
  });
});

describe("the adapter", () => {
  it("says why a program has failed, and what no program could be taken from", async () => {
    const replies: Record<string, (prompt: string) => string> = {
      atcoder: (prompt) => fenced(program(prompt, "WA")),
      codeforces: () => "I do not know.",
      leetcode: (prompt) => fenced(program(prompt)),
    };
    const model = saying((prompt) => {
      const platform = /^Problem \S+ \((\w+),/m.exec(prompt)?.[1] ?? "";
      return replies[platform]!(prompt);
    });
    const adapter = new LiveCodeBenchAdapter(model, options);
    const results = [];
    for (const instance of await adapter.loadInstances()) {
      const context = { timeoutMs: 1000, signal: new AbortController().signal };
      const result = await adapter.evaluate(instance, await adapter.runInstance(instance, context));
      results.push([result.platform, adapter.isPass(result), result.reason?.slice(0, 9) ?? ""]);
    }
    await adapter.close();
    assert.deepEqual(results.sort(), [
      ["atcoder", false, results.find(([name]) => name === "atcoder")?.[2]],
      ["codeforces", false, "the reply"],
      ["leetcode", true, ""],
      ["leetcode", true, ""],
    ]);
    assert.match(String(results[0]?.[2]), /^WA/);
  });

  it("keeps in the total what came to no result", async () => {
    let count = 0;
    const model: ModelAdapter = {
      complete: async ({ messages, signal }) => {
        count++;
        if (count === 1) return { ok: false, error: new Error("quota") };
        if (count === 2) throw new Error("line cut");
        if (count === 3) {
          return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
        }
        const text = fenced(program(messages.at(-1)?.content ?? ""));
        return { ok: true, value: { content: [{ type: "text", text }, { type: "image" }] } };
      },
    };
    const adapter = new LiveCodeBenchAdapter(model, { ...options, runTests: false });
    const summary = await runBenchmark(adapter, {}, { instanceTimeoutMs: 2000 });
    assert.deepEqual([summary.total, summary.passed], [4, 1]);
    assert.equal(summary.metadata.failureCount, 3);
    assert.equal(summary.metadata.sampleFailure, "quota");
    assert.deepEqual(summary.metadata.passRateBounds, [0.25, 1]);
    assert.match(summary.metadata.note, /no tests/);
  });

  it("refuses what it cannot do", async () => {
    assert.throws(
      () => new LiveCodeBenchAdapter(saying(() => ""), { agenticMode: true } as object),
      /proctor-nexus --agentic-mode/,
    );
    assert.throws(() => createOpenAIAdapter({ apiKey: "", baseURL: "https://api.openai.com/v1", modelId: "x" }), /OPENAI_API_KEY/);
    await assert.rejects(loadLiveCodeBenchInstances({ ...options, source: "/nowhere" }), /no such file/);
    await assert.rejects(loadLiveCodeBenchInstances({ ...options, platforms: ["moon"] }), /moon/);
    await assert.rejects(loadLiveCodeBenchInstances({ proctorDir: "/nowhere" }), /cannot be started/);
    const adapter = new LiveCodeBenchAdapter(saying(() => ""), options);
    await assert.rejects(runBenchmark(adapter, {}, { concurrency: 0 }), RangeError);
  });

  it("stops when it is told to", async () => {
    const controller = new AbortController();
    const model = saying(() => {
      controller.abort(new Error("enough"));
      return "";
    });
    const adapter = new LiveCodeBenchAdapter(model, options);
    await assert.rejects(runBenchmark(adapter, {}, { signal: controller.signal }), /enough/);
  });

  it("runs anybody's adapter", async () => {
    const doubling: BenchmarkAdapter<number, number, boolean, string> = {
      name: "doubling",
      loadInstances: async ({ maxInstances } = {}) => [1, 2, 3, 4].slice(0, maxInstances),
      runInstance: async (number, { timeoutMs }) => number + number + Number(timeoutMs !== 300_000),
      evaluate: async (number, doubled) => doubled === 2 * number,
      isPass: (right) => right,
      summarize: (results) => `${results.filter(Boolean).length} of ${results.length}`,
    };
    assert.equal(await runBenchmark(doubling, {}, { limit: 3, concurrency: 2 }), "3 of 3");
  });
});

describe("prompts and replies", () => {
  it("shows public tests and the code to start from, and nothing hidden", async () => {
    const [instance] = await loadLiveCodeBenchInstances({ ...options, platforms: ["leetcode"] }, { maxInstances: 1 });
    assert(instance);
    const prompt = composeUserPrompt(instance);
    assert(prompt.includes(instance.starterCode?.trimEnd() ?? "?"));
    assert(prompt.includes(instance.publicTests[0]?.expectedOutput ?? "?"));
    assert(!prompt.includes("private_test_cases"));
    assert.match(instance.releaseDate ?? "", /^\d{4}-\d\d-\d\d$/);
  });

  for (const [name, reply, code] of [
    ["the last Python", "```python\na = 1\n```\n```py\nb = 2\n```\n```\n3\n```", "b = 2\n"],
    ["a version in the label", "```python3.11\na = 1\n```", "a = 1\n"],
    ["tildes", "~~~python\na = 1\n~~~", "a = 1\n"],
    ["no label", "```\na = 1\n```", "a = 1\n"],
    ["an open fence", "```python\na = 1\nprint(a)", "a = 1\nprint(a)\n"],
    ["after thinking", "<think>```python\nno\n```</think>```python\nyes\n```", "yes\n"],
    ["bare code", "n = int(input())\nprint(n)", "n = int(input())\nprint(n)"],
    ["another language", "```cpp\nint main() {}\n```", ""],
    ["words", "I cannot.", ""],
  ] as const) {
    it(`takes ${name}`, () => assert.equal(extractPythonCode(reply), code));
  }
});
