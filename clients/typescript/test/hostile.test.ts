// Servers that send too much, or nothing that makes sense.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";

import { HttpTransport, ProctorClient, ProctorError } from "proctor-client";

const MIB = 1 << 20;
const BLANKS = Buffer.alloc(MIB, " ");
const EVENTS = { "content-type": "text/event-stream" };
const BUSY = { status: 429, code: "busy", title: "later" };

/** Does something with a client of a server that answers so; returns the requests that it got. */
async function against(
  answer: (response: ServerResponse) => void,
  doing: (client: ProctorClient) => Promise<unknown>,
): Promise<IncomingMessage[]> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume().once("end", () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = new ProctorClient(new HttpTransport({ url: `http://127.0.0.1:${port}` }));
  try {
    await doing(client);
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
  return asked;
}

const refused = (work: Promise<unknown>, code: string, message: RegExp) =>
  assert.rejects(work, (error) => {
    assert(error instanceof ProctorError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

/** Sends parts for as long as they are taken. */
function pour(response: ServerResponse, part: Uint8Array): void {
  if (response.destroyed) return;
  while (response.write(part));
  response.once("drain", () => pour(response, part));
}

const judged = (client: ProctorClient) => client.judge({ program: { source: "" }, problem: { tests: [] } });

describe("a hostile server", () => {
  it("that packs a great deal is asked not to, and is cut off", async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MIB, " "), { level: 1 });
    const asked = await against(
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      (client) => refused(client.run("print(1)"), "reply-broken", /an answer of more than 268435456 bytes/),
    );
    assert.equal(asked[0]?.headers["accept-encoding"], "identity");
  });

  it("that does not end an error is cut off", async () => {
    await against(
      (response) => pour(response.writeHead(503), BLANKS),
      (client) => refused(client.run("print(1)"), "reply-broken", /more than 1048576 bytes/),
    );
  });

  it("that does not end an event is cut off", async () => {
    await against(
      (response) => {
        response.writeHead(200, EVENTS).write("data: ");
        pour(response, BLANKS);
      },
      (client) => refused(judged(client), "reply-broken", /an event of more than 67108864 bytes/),
    );
  });

  it("that sends a file without end is cut off", async () => {
    await against(
      (response) => pour(response.writeHead(200), BLANKS),
      (client) => refused(client.attach("s").read("file"), "reply-broken", /more than 268435456 bytes/),
    );
  });

  it("that sends millions of values is not believed", async () => {
    const many = Buffer.from(`[${"[],".repeat(3 << 20)}0]`);
    await against(
      (response) => response.writeHead(200).end(many),
      (client) => refused(client.run("print(1)"), "reply-broken", /more than 4194304 JSON values/),
    );
  });

  it("may send an event in any parts", async () => {
    const events = Buffer.from('event: done\ndata: {"verdict":"ä\u2028"}\n\n');
    await against(
      (response) => {
        response.writeHead(200, EVENTS);
        const next = (at: number): void => {
          if (at === events.length) response.end();
          else response.write(events.subarray(at, at + 1), () => setImmediate(next, at + 1));
        };
        next(0);
      },
      async (client) => assert.equal((await judged(client)).verdict, "ä\u2028"),
    );
  });

  for (const data of ["{", '{"status":503,"code":"x","title":"y","detail":[]}']) {
    it(`that says ${data} in an event is not believed`, async () => {
      await against(
        (response) => response.writeHead(200, EVENTS).end(`event: failed\ndata: ${data}\n\n`),
        (client) => refused(judged(client), data === "{" ? "reply-broken" : "unreachable", /./),
      );
    });
  }

  for (const wait of ["1000000", "999999999"]) {
    it(`that asks to come back in ${wait} s is not waited for`, async () => {
      const asked = await against(
        (response) => response.writeHead(429, { "retry-after": wait }).end(JSON.stringify(BUSY)),
        (client) => refused(client.run("print(1)"), "busy", /later/),
      );
      assert.equal(asked.length, 1);
    });
  }
});
