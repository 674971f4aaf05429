// Solvers, the same over both transports, against a real server and a real daemon.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import {
  connect,
  executeGeneratedCode,
  ProctorClient,
  ProctorError,
  tackPython,
} from "proctor-client";
import { DaemonTransport } from "proctor-client/daemon";

import { PACKING, PROCTOR, type Served, serving, solving, untilCarried } from "./helpers.js";

let server: Served;
before(async () => {
  server = await serving("--cells", "2");
});
after(() => server.stop());

for (const way of ["http", "daemon"]) {
  describe(`over ${way}`, () => {
    let client: ProctorClient;
    before(async () => {
      const command = [PROCTOR, "daemon", "--cells", "2"];
      client =
        way === "http"
          ? await connect(server.url)
          : new ProctorClient(new DaemonTransport({ command }));
    });
    after(() => client.close());

    it("answers with a validated solution", async () => {
      const found = await client.solve(solving().request);
      assert.deepEqual([found.status, found.ok, found.accepted], ["feasible", true, true]);
      assert.equal(found.validation?.objective, 3);
    });

    it("checks programs without running them", async () => {
      assert.deepEqual(await client.check("x = 1"), { ok: true, error: null });
      assert.match((await client.check("def f(:")).error ?? "", /SyntaxError/);
      assert.equal((await client.check("return")).ok, false);
      assert.equal((await client.check({ code: "return", parse_only: true })).ok, true);
      await assert.rejects(client.check({ code: "", profile: "none" }), (error) => {
        assert(error instanceof ProctorError);
        return error.field === "profile";
      });
    });

    it("has the skeleton's source", async () => {
      const { program, files } = await client.skeleton();
      assert.match(program, /from timetable_skeleton import run/);
      assert.match(files["timetable_skeleton/__init__.py"] ?? "", /run/);
      assert.deepEqual(await client.check(program), { ok: true, error: null });
    });

    it("answers Tack's calls", async () => {
      const python = tackPython(client);
      assert.deepEqual(await python.syntaxCheck("x = 1"), { ok: true, error: null });
      assert.equal((await python.astCheck("return")).ok, true);
      const week = {
        classes: ["6A"], days: ["Mon"], periods: [1], constraints: [],
        assignments: [{ id: "a", class: "6A", subject: "Maths", teacher: "Ada", weeklyPeriods: 1 }],
      };
      const { program } = await client.skeleton();
      const found = await python.executeCode(program, week, 30_000, 1);
      assert.deepEqual([found.status, found.ok], ["optimal", true]);
      const failed = await python.executeCode(7 as unknown as string, week);
      assert.deepEqual([failed.phase, failed.status, failed.ok], ["run", "crashed", false]);
      assert.match(failed.errorDigest, /Expected `str`/);
    });

    it("says which field is at fault", async () => {
      await assert.rejects(client.solve({ ...solving().request, profile: "../x.toml" }), (error) => {
        assert(error instanceof ProctorError);
        return error.field === "profile";
      });
    });

    it("tells of incumbents before the end, and ends it when the loop is left", async () => {
      const { mark, request } = solving("forever");
      for await (const each of client.solveStream(request)) {
        assert("t" in each);
        assert.deepEqual([each.objective, each.file], [3, "inc_1.json"]);
        await untilCarried(mark, 1);
        break;
      }
      await untilCarried(mark, 0);
      const told = [];
      for await (const each of client.solveStream(solving().request)) told.push(each);
      assert("status" in told.at(-1)!);
    });

    it("calls a generated program off by its signal", async () => {
      const { mark, request } = solving("forever");
      const controller = new AbortController();
      const job = executeGeneratedCode(client, request.code, request.input, {
        profile: PACKING,
        signal: controller.signal,
        onIncumbent: () => void untilCarried(mark, 1).then(() => controller.abort()),
      });
      await assert.rejects(job, { name: "AbortError" });
      await untilCarried(mark, 0);
    });

    it("answers with the valid incumbent, not with the invalid result after it", async () => {
      const { request } = solving("invalid");
      const plain = await client.solve(request);
      assert.deepEqual([plain.accepted, plain.answer?.source, plain.answer?.validated], [true, "incumbent", true]);
      assert.equal(plain.answer?.objective, 3);
      const found = await executeGeneratedCode(client, request.code, request.input, { profile: PACKING });
      assert.deepEqual([found.status, found.accepted], ["feasible", true]);
      assert.deepEqual(found.resultData, plain.answer?.data);
      assert.deepEqual((found.resultData as { bins: string[][] }).bins, [["a"], ["b"], ["c"]]);
      assert.equal(found.validation?.ok, true);
    });

    it("has no answer where everything is rejected", async () => {
      const { request } = solving("invalid");
      const code = request.code.replace('put("inc_1.json", alone)', "");
      const found = await executeGeneratedCode(client, code, request.input, { profile: PACKING });
      assert.deepEqual([found.accepted, found.answer], [false, null]);
      assert.equal(found.validation?.ok, false);
    });

    it("has what was found when a generated program's time is over", async () => {
      const { request } = solving("forever");
      const options = { profile: PACKING, timeoutMs: 300, solverWorkers: 1.5, solverSeed: 7 };
      const found = await executeGeneratedCode(client, request.code, request.input, options);
      assert.deepEqual([found.status, found.ok], ["timeout_with_solution", true]);
      assert.deepEqual((found.resultData as { bins: string[][] }).bins, [["a"], ["b"], ["c"]]);
    });
  });
}
