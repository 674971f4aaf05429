// Main process, preload and page, with a small ipc in between that does what Electron's does:
// arguments and answers are cloned, an error crosses as its message alone.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { after, before, describe, it } from "node:test";

import { HttpTransport, ProctorError, type TestResult } from "proctor-client";
import { DaemonTransport } from "proctor-client/daemon";
import { type IpcEventLike, registerHandlers, type Registered } from "proctor-client/electron/main";
import { type Bridge, expose } from "proctor-client/electron/preload";
import { connectRenderer, executeGeneratedCode } from "proctor-client/electron/renderer";

import { endless, judging, PACKING, PROCTOR, type Served, serving, solving, SUM, untilCarried } from "./helpers.js";

type Listener = (event: IpcEventLike, ...args: unknown[]) => unknown;

class Ipc {
  private readonly handlers = new Map<string, Listener>();
  private pages = 0;

  readonly main = {
    handle: (channel: string, listener: Listener) => void this.handlers.set(channel, listener),
    removeHandler: (channel: string) => void this.handlers.delete(channel),
  };

  /** A page's own world, and what destroys the page. */
  page(): { bridge: Bridge; destroy: () => void } {
    const toPage = new EventEmitter();
    const life = new EventEmitter();
    let destroyed = false;
    const sender = {
      id: ++this.pages,
      send: (channel: string, ...args: unknown[]) => {
        if (destroyed) throw new TypeError("Object has been destroyed");
        toPage.emit(channel, {}, ...structuredClone(args));
      },
      isDestroyed: () => destroyed,
      once: (event: "destroyed", listener: () => void) => life.once(event, listener),
      removeListener: (event: "destroyed", listener: () => void) => life.off(event, listener),
    };
    const invoke = async (channel: string, ...args: unknown[]): Promise<unknown> => {
      const handler = this.handlers.get(channel);
      if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
      try {
        return structuredClone(await handler({ sender }, ...structuredClone(args)));
      } catch (error) {
        throw new Error(`Error invoking remote method '${channel}': ${String(error)}`);
      }
    };
    const world: Record<string, unknown> = {};
    expose(
      { exposeInMainWorld: (name, api) => (world[name] = api) },
      { invoke, on: (channel, listener) => toPage.on(channel, listener) },
    );
    const destroy = () => {
      destroyed = true;
      life.emit("destroyed");
    };
    return { bridge: world["proctor"] as Bridge, destroy };
  }
}

describe("electron", () => {
  const ipc = new Ipc();
  const transport = new DaemonTransport({ command: [PROCTOR, "daemon"] });
  let server: Served;
  let registered: Registered;
  before(async () => {
    registered = await registerHandlers(ipc.main, { transport });
    server = await serving("--cells", "1");
  });
  after(async () => {
    await registered.dispose();
    await server.stop();
  });

  it("runs and judges for a page", async () => {
    const client = connectRenderer({ bridge: ipc.page().bridge });
    assert.equal((await client.run("print(6 * 7)")).execution?.stdout.text, "42\n");
    const heard: TestResult[] = [];
    const found = await client.judge(judging(SUM), { onTest: (test) => heard.push(test) });
    assert.deepEqual(heard, found.tests);
    assert((await client.languages()).length > 0);
  });

  it("keeps an error's code and field", async () => {
    const client = connectRenderer({ bridge: ipc.page().bridge });
    await assert.rejects(client.run({ program: { source: "", language: "cobol" } }), (error) => {
      assert(error instanceof ProctorError);
      assert.equal(error.field, "language");
      return true;
    });
  });

  it("lets a page call no other method", async () => {
    const { bridge } = ipc.page();
    const answer = (await bridge.call("1", "close", null)) as { error: { code: string } };
    assert.equal(answer.error.code, "usage");
  });

  it("leaves sessions and live output to the server", async () => {
    const { bridge } = ipc.page();
    await assert.rejects(connectRenderer({ bridge }).stream("").result, (error) => {
      assert(error instanceof ProctorError);
      return error.code === "unreachable" && !error.begun;
    });
    const client = connectRenderer({ bridge, url: server.url });
    assert.equal((await client.stream("print(1)").result).verdict, "OK");
    const session = await client.session();
    assert.equal((await session.runCell("6 * 7")).result, "42");
    await session.close();
  });

  it("ends a job that its page aborts, and no other page's", async () => {
    const [mine, other] = [ipc.page().bridge, ipc.page().bridge];
    const { mark, request } = endless();
    const controller = new AbortController();
    const job = connectRenderer({ bridge: mine }).run(request, { signal: controller.signal });
    const refused = assert.rejects(job, { name: "AbortError" });
    await untilCarried(mark, 3);
    assert.equal((await connectRenderer({ bridge: other }).run("print(1)")).verdict, "OK");
    controller.abort();
    await refused;
    await untilCarried(mark, 0);
  });

  it("runs generated solvers for a page, and ends one that it aborts", async () => {
    const client = connectRenderer({ bridge: ipc.page().bridge });
    const { code, input } = solving().request;
    const found = await executeGeneratedCode(client, code, input, { profile: PACKING });
    assert.deepEqual([found.status, found.accepted], ["feasible", true]);
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

  it("ends the jobs of a page that goes away", async () => {
    const { bridge, destroy } = ipc.page();
    const { mark, request } = endless();
    const job = connectRenderer({ bridge }).run(request);
    const refused = assert.rejects(job, ProctorError);
    await untilCarried(mark, 3);
    destroy();
    await refused;
    await untilCarried(mark, 0);
  });

  it("starts a daemon that has crashed again", async () => {
    const client = connectRenderer({ bridge: ipc.page().bridge });
    await client.run("print(1)");
    const first = transport.pid;
    assert(first !== undefined);
    process.kill(first, "SIGKILL");
    // It may be noticed only by the next call, of which then nothing is known.
    await client.run("print(2)").catch((error) => assert.equal(error.code, "unreachable"));
    assert.equal((await client.run("print(3)")).execution?.stdout.text, "3\n");
    assert.notEqual(transport.pid, first);
  });

  it("uses HTTP where there is no bridge, and for calls that the bridge cannot begin", async () => {
    const plain = connectRenderer({ url: server.url });
    assert.equal((await plain.capabilities()).places, 1);
    const nobody = new Ipc().page(); // nothing is registered in its main process
    const both = connectRenderer({ bridge: nobody.bridge, url: server.url });
    assert.equal((await both.capabilities()).places, 1);
    const broken = new Ipc();
    const handlers = await registerHandlers(broken.main, {
      transport: new DaemonTransport({ command: ["/nowhere/proctor"] }),
    });
    const page = connectRenderer({ bridge: broken.page().bridge, url: server.url });
    assert.equal((await page.run("print(1)")).verdict, "OK");
    await handlers.dispose();
    assert.throws(() => connectRenderer(), TypeError);
  });

  it("may be served over HTTP by its main process", async () => {
    const other = new Ipc();
    const handlers = await registerHandlers(other.main, {
      transport: new HttpTransport({ url: server.url }),
    });
    const client = connectRenderer({ bridge: other.page().bridge });
    assert.equal((await client.capabilities()).places, 1);
    await handlers.dispose();
    await assert.rejects(client.run("1"), ProctorError);
  });
});
