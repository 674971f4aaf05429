// The same over both transports, against a real server and a real daemon.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { connect, HttpTransport, ProctorClient, ProctorError, type TestResult } from "proctor-client";
import { DaemonTransport } from "proctor-client/daemon";

import { endless, freePort, judging, PROCTOR, type Served, serving, SUM, until, untilCarried } from "./helpers.js";

const isProblem = (code: string) => (error: unknown) =>
  error instanceof ProctorError && error.code === code;

let server: Served;
before(async () => {
  server = await serving("--cells", "2");
});
after(() => server.stop());

for (const way of ["http", "daemon"]) {
  describe(`over ${way}`, () => {
    let client: ProctorClient;
    before(async () => {
      client = await connect(way === "http" ? server.url : `daemon:${PROCTOR}`);
    });
    after(() => client.close());

    it("runs", async () => {
      const found = await client.run({ program: { source: "print(input() * 2)" }, stdin: "äb" });
      assert.equal(found.verdict, "OK");
      assert.equal(found.execution?.stdout.text, "äbäb\n");
      assert.equal(found.isolation, (await client.capabilities()).isolation);
      assert.equal((await client.run("1/0")).verdict, "RE");
    });

    it("judges, and tells of each test", async () => {
      const heard: TestResult[] = [];
      const found = await client.judge(judging(SUM), { onTest: (test) => heard.push(test) });
      assert.equal(found.verdict, "AC");
      assert.equal(found.score, 1);
      assert.deepEqual(heard, found.tests);
    });

    it("judges many, in whatever order", async () => {
      const sources = [SUM, "print(3)", "}{"];
      const requests = [...sources, ...sources, ...sources].map((each) => judging(each));
      requests.push(judging("", "cobol"));
      const found = new Map<number, string>();
      for await (const each of client.judgeMany(requests, { atOnce: 4 })) {
        found.set(each.index, each.error ? each.error.code : each.result.verdict);
      }
      const verdicts = [...found].sort(([a], [b]) => a - b).map(([, verdict]) => verdict);
      assert.deepEqual(verdicts, [..."123".split("").flatMap(() => ["AC", "WA", "CE"]), "bad-input"]);
    });

    it("says what is wrong", async () => {
      await assert.rejects(client.run({ program: { source: "", language: "cobol" } }), (error) => {
        assert(error instanceof ProctorError);
        assert.match(error.message, /cobol/);
        assert.equal(error.field, "language");
        return true;
      });
      await assert.rejects(client.run({ program: { source: "" }, limits: { cpu: -1 } }), (error) => {
        assert(error instanceof ProctorError);
        assert.match(error.field ?? "", /limits\.cpu/);
        return true;
      });
      assert((await client.languages()).some((each) => each.id === "python"));
    });

    for (const idempotencyKey of [undefined, `key-${way}-${process.pid}`]) {
      it(`ends all of a job that is aborted, ${idempotencyKey ? "with" : "without"} a key`, async () => {
        const { mark, request } = endless();
        const controller = new AbortController();
        const options = idempotencyKey ? { idempotencyKey } : {};
        const job = client.run(request, { signal: controller.signal, ...options });
        const refused = assert.rejects(job, { message: "enough" });
        await untilCarried(mark, 3);
        controller.abort(new Error("enough"));
        await refused;
        await untilCarried(mark, 0);
        await assert.rejects(client.run("print(1)", { signal: controller.signal }), { message: "enough" });
        assert.equal((await client.run("print(1)")).verdict, "OK");
      });
    }

    it("calls off the rest of a batch that is left", async () => {
      const slow = { ...judging("while True: pass"), limits: { cpu: 3000 } };
      for await (const each of client.judgeMany([judging(SUM), slow])) {
        assert.equal(each.index, 0);
        break;
      }
      // Asking takes a place itself.
      await until(async () => (await client.capabilities()).running <= 1, "nothing runs");
    });
  });
}

describe("a server", () => {
  it("that is busy is asked again when it says", async () => {
    const busy = await serving("--cells", "1", "--max-waiting", "1");
    try {
      const client = await connect(busy.url);
      const figures = async () => (await fetch(`${busy.url}/metrics`)).text();
      const { mark, request } = endless();
      const controller = new AbortController();
      const first = client.run(request, { signal: controller.signal });
      const refused = assert.rejects(first, { name: "AbortError" });
      await untilCarried(mark, 3);
      const second = client.run("print(2)");
      await until(async () => (await figures()).includes("proctor_jobs_waiting 1.0"), "one waits");
      const hasty = new ProctorClient(new HttpTransport({ url: busy.url, attempts: 1 }));
      await assert.rejects(hasty.run("print(3)"), (error) => {
        assert(error instanceof ProctorError);
        assert.equal(error.code, "busy");
        assert((error.retryAfter ?? 0) > 0);
        return true;
      });
      let attempts = 0;
      const counting = new HttpTransport({
        url: busy.url,
        fetch: (...asked) => {
          attempts++;
          return fetch(...asked);
        },
      });
      const third = new ProctorClient(counting).run("print(3)");
      await until(() => attempts === 2, "it has been asked again");
      controller.abort();
      await refused;
      assert.equal((await second).verdict, "OK");
      assert.equal((await third).verdict, "OK");
    } finally {
      await busy.stop();
    }
  });

  it("that is not there is unreachable, and was sent nothing", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const client = new ProctorClient(new HttpTransport({ url, attempts: 2 }));
    await assert.rejects(client.run("1"), (error) => {
      assert(error instanceof ProctorError);
      assert.equal(error.code, "unreachable");
      assert.equal(error.begun, false);
      return true;
    });
  });
});

describe("a daemon", () => {
  it("that dies is started again", async () => {
    const transport = new DaemonTransport({ command: [PROCTOR, "daemon"] });
    const client = new ProctorClient(transport);
    try {
      const { mark, request } = endless();
      const lost = assert.rejects(client.run(request), isProblem("unreachable"));
      await untilCarried(mark, 3);
      const first = transport.pid;
      assert(first !== undefined);
      process.kill(first, "SIGKILL");
      await lost;
      await untilCarried(mark, 0);
      assert.equal((await client.run("print(1)")).verdict, "OK");
      assert.notEqual(transport.pid, first);
    } finally {
      await client.close();
    }
  });

  it("that dies is no matter to a request with a key", async () => {
    const transport = new DaemonTransport({ command: [PROCTOR, "daemon"] });
    const client = new ProctorClient(transport);
    try {
      const { mark, request } = endless();
      const controller = new AbortController();
      const asked = { signal: controller.signal, idempotencyKey: "again" };
      const job = assert.rejects(client.run(request, asked), { name: "AbortError" });
      await untilCarried(mark, 3);
      const first = transport.pid;
      assert(first !== undefined);
      process.kill(first, "SIGKILL");
      await until(() => transport.pid !== undefined && transport.pid !== first, "another daemon");
      await untilCarried(mark, 3);
      controller.abort();
      await job;
      await untilCarried(mark, 0);
    } finally {
      await client.close();
    }
  });

  it("is ended with its client, and all that runs in it", async () => {
    const transport = new DaemonTransport({ command: [PROCTOR, "daemon"] });
    const { mark, request } = endless();
    const job = new ProctorClient(transport).run(request);
    const refused = assert.rejects(job, isProblem("cancelled"));
    await untilCarried(mark, 3);
    await transport.close();
    await refused;
    await untilCarried(mark, 0);
  });

  it("says why it cannot serve", async () => {
    const command = [PROCTOR, "daemon", "--isolation", "wishful"];
    const client = new ProctorClient(new DaemonTransport({ command, onStderr: () => undefined }));
    await assert.rejects(client.run("1"), isProblem("bad-settings"));
    await client.close();
  });

  it("that is none is told from one", async () => {
    const none = new ProctorClient(new DaemonTransport({ command: ["/nowhere/proctor"] }));
    await assert.rejects(none.run("1"), isProblem("unreachable"));
    const other = new ProctorClient(new DaemonTransport({ command: ["/bin/echo", "hello"] }));
    await assert.rejects(other.run("1"), isProblem("reply-broken"));
  });
});
