import { ProctorError } from "./errors.js";
import { HttpTransport } from "./http.js";
import { LiveRun } from "./live.js";
import { Session } from "./session.js";
import type {
  CheckRequest,
  CheckResult,
  Envelope,
  Incumbent,
  Skeleton,
  SolveRequest,
} from "./solving.js";
import type { CallOptions, Method, Transport } from "./transport.js";
import type {
  Capabilities,
  JudgeRequest,
  JudgeResult,
  Language,
  RunRequest,
  RunResult,
  SessionRequest,
  SessionState,
} from "./types.js";

export interface ManyOptions {
  signal?: AbortSignal;
  /** Judgements under way at a time; default 32. */
  atOnce?: number;
}

/** One of many judgements: a result, or the error that there is instead. */
export type Judged =
  | { index: number; result: JudgeResult; error?: never }
  | { index: number; error: ProctorError; result?: never };

/** Runs and judges programs, somewhere. Rejects with ProctorError, or with a signal's reason. */
export class ProctorClient {
  constructor(readonly transport: Transport) {}

  /** Runs one program, once. A string is Python source. */
  async run(request: RunRequest | string, options: CallOptions = {}): Promise<RunResult> {
    const asked = typeof request === "string" ? { program: { source: request } } : request;
    return (await this.call("run", asked, options)) as RunResult;
  }

  /**
   * Runs one program; its output comes as it is written: `for await (const piece of live)`, then
   * `await live.result`. It brings no files back, and is not made again when the line breaks.
   */
  stream(
    request: Omit<RunRequest, "collect"> | string,
    options: Pick<CallOptions, "signal"> = {},
  ): LiveRun {
    const asked = typeof request === "string" ? { program: { source: request } } : request;
    const start = async (call: CallOptions) => (await this.call("stream", asked, call)) as RunResult;
    return new LiveRun(start, options.signal);
  }

  /**
   * Opens a session: one sandbox whose files and variables last. Rejects at once, with code
   * `busy`, if all are taken. A server's outlives this client, unless it is closed.
   */
  async session(
    request: SessionRequest = {},
    options: Pick<CallOptions, "signal"> = {},
  ): Promise<Session> {
    const { signal } = options;
    signal?.throwIfAborted();
    // Seen to its end, since what is opened for nobody has to be closed.
    const opening = this.call("session_open", request, {}) as Promise<SessionState>;
    let stop: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
    });
    try {
      const { id } = await Promise.race([opening, aborted]);
      return this.attach(id);
    } catch (error) {
      if (signal?.aborted) opening.then(({ id }) => this.attach(id).close()).catch(() => undefined);
      throw error;
    } finally {
      if (stop) signal?.removeEventListener("abort", stop);
    }
  }

  /** The session of this id, which was opened before, perhaps by another client. */
  attach(id: string): Session {
    return new Session(this.transport, id);
  }

  /** The sessions that there are of yours, the oldest first. */
  async sessions(options: CallOptions = {}): Promise<SessionState[]> {
    return (await this.call("session_list", {}, options)) as SessionState[];
  }

  /** Judges one program: compiled once, run on as many tests as matter. */
  async judge(request: JudgeRequest, options: CallOptions = {}): Promise<JudgeResult> {
    return (await this.call("judge", request, options)) as JudgeResult;
  }

  /** Runs a generated solver. What it does wrong is in the envelope. */
  async solve(request: SolveRequest, options: CallOptions = {}): Promise<Envelope> {
    return (await this.call("solve", request, options)) as Envelope;
  }

  /** Says whether a solver compiles, without running it. A string is its source. */
  async check(request: CheckRequest | string, options: CallOptions = {}): Promise<CheckResult> {
    const asked = typeof request === "string" ? { code: request } : request;
    return (await this.call("check", asked, options)) as CheckResult;
  }

  /** What generated timetable solvers build on: a program, and the modules that it imports. */
  async skeleton(options: CallOptions = {}): Promise<Skeleton> {
    return (await this.call("skeleton", {}, options)) as Skeleton;
  }

  /** Yields incumbents as they are found, and last the envelope. Leaving the loop calls it off. */
  async *solveStream(
    request: SolveRequest,
    options: Pick<CallOptions, "signal"> = {},
  ): AsyncGenerator<Incumbent | Envelope, void, undefined> {
    const over = new AbortController();
    const stop = () => over.abort(options.signal?.reason);
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener("abort", stop, { once: true });
    const heard: Incumbent[] = [];
    let wake: () => void = () => undefined;
    let ended = false;
    const onIncumbent = (incumbent: Incumbent) => {
      heard.push(incumbent);
      wake();
    };
    const solving = this.solve(request, { signal: over.signal, onIncumbent }).finally(() => {
      ended = true;
      wake();
    });
    solving.catch(() => undefined); // whoever reads to the end is told
    try {
      for (;;) {
        for (let each = heard.shift(); each; each = heard.shift()) yield each;
        if (ended) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      yield await solving;
    } finally {
      options.signal?.removeEventListener("abort", stop);
      over.abort();
    }
  }

  /** Yields judgements as they are made, in whatever order. Leaving the loop calls off the rest. */
  async *judgeMany(
    requests: Iterable<JudgeRequest>,
    options: ManyOptions = {},
  ): AsyncGenerator<Judged, void, undefined> {
    const over = new AbortController();
    const stop = () => over.abort(options.signal?.reason);
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener("abort", stop, { once: true });
    const running = new Map<number, Promise<Judged>>();
    const todo = requests[Symbol.iterator]();
    let index = 0;
    try {
      for (;;) {
        while (running.size < (options.atOnce ?? 32)) {
          const next = todo.next();
          if (next.done) break;
          running.set(index, this.one(index, next.value, over.signal));
          index++;
        }
        if (running.size === 0) return;
        const done = await Promise.race(running.values());
        running.delete(done.index);
        yield done;
      }
    } finally {
      options.signal?.removeEventListener("abort", stop);
      over.abort();
      await Promise.allSettled(running.values());
      todo.return?.();
    }
  }

  /** Languages that can be used. */
  async languages(options: CallOptions = {}): Promise<Language[]> {
    return (await this.call("languages", null, options)) as Language[];
  }

  /** Which isolation holds programs, and what it guarantees. */
  async capabilities(options: CallOptions = {}): Promise<Capabilities> {
    return (await this.call("capabilities", null, options)) as Capabilities;
  }

  /** Calls off what runs, and ends what was started for this client. */
  close(): Promise<void> {
    return this.transport.close();
  }

  private async call(
    method: Method,
    request: unknown,
    options: CallOptions,
  ): Promise<unknown> {
    options.signal?.throwIfAborted();
    return this.transport.call(method, request, options);
  }

  private async one(index: number, request: JudgeRequest, signal: AbortSignal): Promise<Judged> {
    try {
      return { index, result: await this.judge(request, { signal }) };
    } catch (error) {
      if (error instanceof ProctorError) return { index, error };
      throw error;
    }
  }
}

export interface ConnectOptions {
  token?: string;
}

/**
 * Returns a client. `url` is `http://HOST:PORT` of a `proctor serve`, or `daemon:`, or
 * `daemon:COMMAND` for another installation's; without one PROCTOR_URL says it, and PROCTOR_TOKEN
 * the token. Nothing is started before the first call.
 */
export async function connect(url?: string, options: ConnectOptions = {}): Promise<ProctorClient> {
  const env = globalThis.process?.env ?? {};
  const asked = url ?? env["PROCTOR_URL"] ?? "daemon:";
  if (/^https?:/.test(asked)) {
    const token = options.token ?? env["PROCTOR_TOKEN"];
    return new ProctorClient(new HttpTransport({ url: asked, ...(token ? { token } : {}) }));
  }
  if (!asked.startsWith("daemon:")) {
    throw new TypeError(`${asked} is not an address of proctor's: http://HOST:PORT, or daemon:`);
  }
  // Not above: a browser has no processes to start.
  const { DaemonTransport } = await import("./daemon.js");
  return new ProctorClient(
    new DaemonTransport({ command: [asked.slice("daemon:".length) || "proctor", "daemon"] }),
  );
}
