import { type ChildProcess, spawn } from "node:child_process";

import { bytesOf, toBase64 } from "./bytes.js";
import { broken, isProblem, ProctorError, unreachable } from "./errors.js";
import type { CallOptions, Method, Transport } from "./transport.js";
import type { Incumbent } from "./solving.js";
import type { Output, TestResult } from "./types.js";

export interface DaemonOptions {
  /** What to start; default `["proctor", "daemon"]`. */
  command?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Is given what the daemon says on stderr; default: this process's stderr. */
  onStderr?: (text: string) => void;
}

const PROTOCOL = 1;
/** Daemons that one request with an idempotency key may be given to. */
const ATTEMPTS = 3;
/** Milliseconds that a daemon which was told to stop may take. */
const GRACE = 10_000;

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  options: CallOptions;
}

interface Message {
  id?: string | number | null;
  hello?: { protocol?: number; max_line?: number };
  result?: unknown;
  error?: unknown;
  progress?: { event: string; test?: TestResult; output?: Output; incumbent?: Incumbent };
}

/** Over a child process, which is started by the first call, and again if it dies. */
export class DaemonTransport implements Transport {
  private life: Life | null = null;
  private closed = false;

  constructor(private readonly options: DaemonOptions = {}) {}

  /** The daemon's process id while there is one. */
  get pid(): number | undefined {
    return this.life?.over === false ? this.life.pid : undefined;
  }

  async call(method: Method, request: unknown, options: CallOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      if (this.closed) throw unreachable("the client is closed", false);
      options.signal?.throwIfAborted();
      if (this.life === null || this.life.over) this.life = new Life(this.options);
      try {
        const answer = await this.life.ask(method, asSent(method, request ?? {}), options);
        return method === "session_read" ? bytesOf(answer as Output) : answer;
      } catch (error) {
        const lost = error instanceof ProctorError && error.code === "unreachable" && error.begun;
        if (!lost || options.idempotencyKey === undefined || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.life?.end();
  }
}

/** A line has no bytes. */
function asSent(method: Method, request: object): object {
  if (method !== "session_write") return request;
  const { content, ...rest } = request as { content: Uint8Array };
  return { ...rest, base64: toBase64(content) };
}

/** One daemon's life. */
class Life {
  over = false;
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly greeted: Promise<void>;
  private readonly ended: Promise<void>;
  private most = Number.POSITIVE_INFINITY;
  private last = 0;
  private parts: Buffer[] = [];
  private greet!: { resolve: () => void; reject: (error: unknown) => void };

  constructor(options: DaemonOptions) {
    const [file, ...args] = options.command ?? ["proctor", "daemon"];
    this.child = spawn(file ?? "proctor", args, {
      stdio: ["pipe", "pipe", options.onStderr ? "pipe" : "inherit"],
      env: { ...process.env, ...options.env },
      // Ctrl-C is ours to pass on.
      detached: process.platform !== "win32",
    });
    this.greeted = new Promise((resolve, reject) => {
      this.greet = { resolve, reject };
    });
    this.greeted.catch(() => undefined); // whoever calls is told
    this.child.stdin?.on("error", () => undefined); // its end is noticed below
    this.child.stderr?.on("data", (data: Buffer) => options.onStderr?.(data.toString()));
    this.child.stdout?.on("data", (data: Buffer) => this.hear(data));
    this.ended = new Promise((resolve) => {
      this.child.once("error", (error) => {
        this.finish(unreachable(`${file} cannot be started: ${error.message}`, false, error));
        resolve();
      });
      this.child.once("close", (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        this.finish(unreachable(`the daemon ended (${how})`, true));
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  async ask(method: Method, params: unknown, options: CallOptions): Promise<unknown> {
    const { signal } = options;
    try {
      await this.greeted;
    } catch (error) {
      if (!(error instanceof ProctorError) || error.code !== "unreachable") throw error;
      throw unreachable(error.title, false, error); // of this request nothing was sent
    }
    signal?.throwIfAborted();
    const id = ++this.last;
    const line = JSON.stringify({ id, method, params });
    if (Buffer.byteLength(line) > this.most) {
      const title = `a request has at most ${this.most} bytes`;
      throw new ProctorError({ status: 413, code: "too-large", title }, false);
    }
    let stop: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        if (this.over) throw unreachable("the daemon has ended", false);
        this.waiting.set(id, { resolve, reject, options });
        stop = () => {
          this.send(JSON.stringify({ id: ++this.last, method: "cancel", params: { id } }));
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", stop, { once: true });
        this.send(line);
      });
    } finally {
      this.waiting.delete(id);
      if (stop) signal?.removeEventListener("abort", stop);
    }
  }

  async end(): Promise<void> {
    this.child.stdin?.end();
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), GRACE);
    await this.ended;
    clearTimeout(timer);
  }

  private send(line: string): void {
    if (!this.over) this.child.stdin?.write(`${line}\n`);
  }

  private hear(data: Buffer): void {
    let start = 0;
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, start)) {
      this.parts.push(data.subarray(start, at));
      const line = Buffer.concat(this.parts).toString("utf8");
      this.parts = [];
      start = at + 1;
      this.take(line);
    }
    if (start < data.length) this.parts.push(data.subarray(start));
  }

  private take(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
      if (typeof message !== "object" || message === null) throw new SyntaxError("no object");
    } catch {
      this.finish(broken("the daemon", line));
      this.child.kill("SIGKILL");
      return;
    }
    if (message.hello) {
      if (message.hello.protocol !== PROTOCOL) this.finish(broken("the daemon", line));
      this.most = message.hello.max_line ?? this.most;
      this.greet.resolve();
      return;
    }
    const waiting = typeof message.id === "number" ? this.waiting.get(message.id) : undefined;
    if (waiting === undefined) {
      // Before its greeting a daemon says why it cannot serve; later, nobody waits any more.
      if (isProblem(message.error)) this.greet.reject(new ProctorError(message.error, false));
    } else if (message.progress) {
      const { event, test, output, incumbent } = message.progress;
      if (test) waiting.options.onTest?.(test);
      if (incumbent) waiting.options.onIncumbent?.(incumbent);
      if (output && (event === "stdout" || event === "stderr")) {
        waiting.options.onOutput?.(event, output);
      }
    } else if (message.error !== undefined) {
      const problem = message.error;
      waiting.reject(isProblem(problem) ? new ProctorError(problem) : broken("the daemon", line));
    } else waiting.resolve(message.result);
  }

  private finish(error: ProctorError): void {
    this.over = true;
    this.greet.reject(error);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
