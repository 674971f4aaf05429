// Sessions and live output, the same over both transports, against a real server and a real daemon.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { connect, FallbackTransport, type Piece, ProctorClient, ProctorError } from "proctor-client";
import { DaemonTransport } from "proctor-client/daemon";

import { endless, PROCTOR, type Served, serving, until, untilCarried } from "./helpers.js";

const isProblem = (code: string) => (error: unknown) =>
  error instanceof ProctorError && error.code === code;
const bytes = (...values: number[]) => Uint8Array.from(values);

let server: Served;
before(async () => {
  server = await serving("--cells", "2", "--sessions", "2");
});
after(() => server.stop());

for (const way of ["http", "daemon"]) {
  describe(`over ${way}`, () => {
    let client: ProctorClient;
    before(async () => {
      const command = [PROCTOR, "daemon", "--cells", "2", "--sessions", "2"];
      client =
        way === "http"
          ? await connect(server.url)
          : new ProctorClient(new DaemonTransport({ command }));
    });
    after(() => client.close());

    it("keeps files and variables", async () => {
      const session = await client.session({ limits: { memory: 512 << 20 }, idle: 60 });
      try {
        assert.equal((await session.runCell("x = 20")).fresh, true);
        const found = await session.runCell("print('so'); x + 22");
        assert.deepEqual([found.result, found.stdout.text, found.fresh], ["42", "so\n", false]);
        await session.write("in/b c#?%.bin", bytes(255, 10, 0));
        await session.write("text", "zwölf");
        const program = "import sys; print(sys.stdin.buffer.read())";
        assert.equal((await session.run(program, { stdin: bytes(254) })).stdout.text, "b'\\xfe'\n");
        const joined = await session.command(["cat", "-", "in/b c#?%.bin"], { stdin: "a" });
        assert.equal(joined.stdout.base64, "Yf8KAA==");
        const sizes = (await session.files()).map(({ path, size }) => [path, size]);
        assert.deepEqual(sizes, [["in/b c#?%.bin", 3], ["text", 6]]);
        assert.deepEqual(await session.read("in/b c#?%.bin"), bytes(255, 10, 0));
        assert.equal((await session.runCell("x", { restart: true })).error?.name, "NameError");
        assert.equal((await session.runCell("while True: pass", { cpu: 0.2 })).verdict, "TLE");
        const state = await session.state();
        assert.deepEqual([state.limits.memory, state.idle], [512 << 20, 60]);
        assert.deepEqual((await client.sessions()).map(({ id }) => id), [session.id]);
        const again = await client.attach(session.id).read("text");
        assert.equal(new TextDecoder().decode(again), "zwölf");
      } finally {
        await session.close();
      }
      await assert.rejects(session.run("1"), isProblem("session-ended"));
      await session.close();
      assert.deepEqual(await client.sessions(), []);
    });

    it("says what is wrong", async () => {
      const opened = [await client.session(), await client.session()];
      await assert.rejects(client.session(), isProblem("busy"));
      await opened.pop()?.close();
      const session = opened[0];
      assert(session);
      await assert.rejects(session.read("nowhere"), isProblem("not-found"));
      for (const path of ["../../../healthz", "/etc/passwd", "a/./b", ""]) {
        await assert.rejects(session.read(path), isProblem("bad-input"));
        await assert.rejects(session.write(path, ""), isProblem("bad-input"));
      }
      await session.close();
      for (const id of ["nobodys", "..", "a/b"]) {
        await assert.rejects(client.attach(id).files(), isProblem("not-found"));
      }
      await assert.rejects(client.session({ packages: "none" }), isProblem("bad-input"));
    });

    it("ends an execution that is aborted, and not its session", async () => {
      const session = await client.session();
      const { mark, request } = endless();
      await session.runCell("x = 1");
      const controller = new AbortController();
      const words = ["python3", "-c", `mark = '${mark}'\n${request.program.source}`];
      const job = session.command(words, { wall: 3000, signal: controller.signal });
      const refused = assert.rejects(job, { message: "enough" });
      await untilCarried(mark, 3);
      controller.abort(new Error("enough"));
      await refused;
      assert.equal((await session.runCell("x")).result, "1");
      await session.close();
      await untilCarried(mark, 0);
    });

    it("closes a session whose opening was aborted", async () => {
      const controller = new AbortController();
      const opening = client.session({}, { signal: controller.signal });
      const refused = assert.rejects(opening, { message: "enough" });
      controller.abort(new Error("enough"));
      await refused;
      // Both can be had, once the one that nobody waits for is gone.
      const both: { close(): Promise<void> }[] = [];
      await until(async () => {
        try {
          both.push(await client.session());
        } catch (error) {
          if (!isProblem("busy")(error)) throw error;
        }
        return both.length === 2;
      }, "two sessions");
      for (const session of both) await session.close();
    });

    it("tells of output while a program runs, and ends it when its loop is left", async () => {
      const { mark, request } = endless();
      const source = `print("first", flush=True)\n${request.program.source}`;
      const asked = { ...request, program: { source } };
      const live = client.stream(asked);
      for await (const piece of live) {
        assert.deepEqual([piece.stream, piece.text], ["stdout", "first\n"]);
        await untilCarried(mark, 3);
        break;
      }
      await assert.rejects(live.result, { name: "AbortError" });
      await untilCarried(mark, 0);

      const controller = new AbortController();
      const other = client.stream(asked, { signal: controller.signal });
      const reading = assert.rejects(
        async () => {
          for await (const piece of other) if (piece.text) controller.abort(new Error("enough"));
        },
        { message: "enough" },
      );
      await reading;
      await untilCarried(mark, 0);
    });

    it("tells of all the output", async () => {
      const source = `
import os, sys
os.write(1, b"\\xff" + sys.stdin.buffer.read())
os.write(2, "ä".encode()[:1]); os.write(2, "ä".encode()[1:])
for n in range(3000): os.write(1, b"%d\\n" % n)
sys.exit(3)
`;
      const live = client.stream({ program: { source }, stdin: "in" });
      const pieces: Piece[] = [];
      for await (const piece of live) pieces.push(piece);
      const found = await live.result;
      assert.deepEqual([found.verdict, found.execution?.exit_code], ["RE", 3]);
      assert.equal(found.execution?.stdout.text, "");
      const said = (stream: string) =>
        Buffer.concat(pieces.filter((each) => each.stream === stream).map(({ data }) => data));
      assert.equal(said("stderr").toString(), "ä");
      const lines = Array.from({ length: 3000 }, (_, n) => `${n}\n`).join("");
      assert.deepEqual(said("stdout"), Buffer.concat([bytes(255), Buffer.from(`in${lines}`)]));
      const refused = client.stream({ program: { source: "", language: "cobol" } });
      await assert.rejects(refused.result, isProblem("bad-input"));
      await assert.rejects(async () => {
        for await (const piece of refused) assert.fail(piece.text);
      }, isProblem("bad-input"));
    });
  });
}

describe("several ways", () => {
  it("leave a session where it was opened", async () => {
    const none = new DaemonTransport({ command: ["/nowhere/proctor"] });
    const first = (await connect(server.url)).transport;
    const second = new DaemonTransport({ command: [PROCTOR, "daemon", "--cells", "1"] });
    const client = new ProctorClient(new FallbackTransport([none, second, first]));
    try {
      const session = await client.session();
      assert.equal((await session.runCell("6 * 7")).result, "42");
      await session.close();
      // Not asked of the next way: another could not know of it.
      await second.close();
      const other = await client.session();
      assert.deepEqual((await (await connect(server.url)).sessions()).map(({ id }) => id), [other.id]);
      await other.close();
    } finally {
      await client.close();
    }
  });
});
