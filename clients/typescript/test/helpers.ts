import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";

import type { JudgeRequest, RunRequest, SolveRequest } from "proctor-client";

/** The real proctor; tests/clients/test_typescript.py says which. */
export const PROCTOR = process.env["PROCTOR_TEST_COMMAND"] ?? "proctor";
const PATIENCE = 60_000;

export const SUM = "print(sum(map(int, input().split())))";
export const TESTS = [
  { input: "1 2", output: "3" },
  { input: "20 22", output: "42" },
];

export function judging(source: string, language = "python"): JudgeRequest {
  return { program: { source, language }, problem: { tests: TESTS } };
}

/** A run of three processes that never end, and a marker that all of them carry. */
export function endless(): { mark: string; request: RunRequest } {
  const mark = `marked-${randomUUID()}`;
  const source = `
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        break
while True:
    time.sleep(1000)
`;
  return { mark, request: { program: { source }, args: [mark], limits: { wall: 3000 } } };
}

export const PACKING = "packing";

/**
 * A solver that packs each item alone; that leaves that, and never ends, with a marker; or that leaves
 * that, and then an invalid result.
 */
export function solving(how: "once" | "forever" | "invalid" = "once"): { mark: string; request: SolveRequest } {
  const mark = `marked-${randomUUID()}`;
  const code = `
import json, os, time
given = json.load(open("input.json"))
alone = [[item["id"]] for item in given["items"]]
def put(name, bins):
    with open("draft", "w") as file:
        json.dump({"status": "FEASIBLE", "bins": bins, "objective": len(bins)}, file)
    os.rename("draft", name)
if "${how}" == "once":
    put("result.json", alone)
elif "${how}" == "invalid":
    put("inc_1.json", alone)
    put("result.json", alone[:1])
else:
    if os.fork() == 0:
        os.setsid()
        os.execv("/bin/sleep", [given["mark"], "1000"])
    put("inc_1.json", alone)
    while True:
        time.sleep(1000)
`;
  const items = ["a", "b", "c"].map((id) => ({ id, size: 2 }));
  const request = { code, input: { capacity: 4, items, mark }, profile: PACKING, timeout: 600 };
  return { mark, request };
}

function carriers(mark: string): number {
  let found = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readFileSync(`/proc/${name}/cmdline`, "utf8").includes(mark)) found++;
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

/** Resolves when so many processes carry the marker. */
export async function untilCarried(mark: string, by: number): Promise<void> {
  await until(() => carriers(mark) === by, `${by} processes`);
}

export async function until(met: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!(await met())) {
    if (Date.now() > deadline) throw new Error(`${what}: not in time`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface Served {
  url: string;
  stop(): Promise<void>;
}

/** Starts a real server on a free port. */
export async function serving(...options: string[]): Promise<Served> {
  const child = spawn(PROCTOR, ["serve", "--port", "0", "--json", "--no-access-log", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface(child.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    lines.once("line", (line) => resolve((JSON.parse(line) as { url: string }).url));
    child.once("close", () => reject(new Error("no server")));
  });
  return {
    url,
    async stop() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** A port at which nobody listens. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
