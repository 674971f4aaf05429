import { bytesOf, eventsOf, read } from "./answers.js";
import { isProblem, ProctorError, unreachable } from "./errors.js";
import { type Route, routeOf } from "./routes.js";
import type { CallOptions, Method, SessionMethod, Transport } from "./transport.js";
import type { Incumbent } from "./solving.js";
import type { Output, TestResult } from "./types.js";

export interface HttpOptions {
  /** `http://HOST:PORT` of a `proctor serve`. */
  url: string;
  token?: string;
  /** Attempts at one request; only those that cannot do anything twice are made again. */
  attempts?: number;
  fetch?: typeof globalThis.fetch;
}

const UNSENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const JSON_BODY = { "Content-Type": "application/json" };
const FIRST_WAIT = 0.1;
const LONGEST_WAIT = 5;
/** Seconds within which a request is made again; a server that asks for a longer wait has refused. */
const RETRY_FOR = 300;

/** Over HTTP. Redirects are refused: they would show others the token. */
export class HttpTransport implements Transport {
  private readonly url: string;
  private readonly attempts: number;
  private readonly fetch: typeof globalThis.fetch;
  private readonly headers: Record<string, string>;
  private readonly closing = new AbortController();

  constructor(options: HttpOptions) {
    this.url = options.url.replace(/\/+$/, "");
    this.attempts = options.attempts ?? 8;
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.headers = options.token ? { Authorization: `Bearer ${options.token}` } : {};
  }

  async call(method: Method, request: unknown, options: CallOptions): Promise<unknown> {
    const signal = options.signal
      ? anyOf(options.signal, this.closing.signal)
      : this.closing.signal;
    const route = method.startsWith("session_") ? routeOf(method as SessionMethod, request) : null;
    const again = options.idempotencyKey !== undefined || route?.again === true;
    const until = performance.now() + RETRY_FOR * 1000;
    for (let attempt = 1; ; attempt++) {
      try {
        if (route) return await this.go(route, signal);
        if (method === "run" || method === "stream" || method === "judge" || method === "solve") {
          return await this.follow(method, JSON.stringify(request), options, signal);
        }
        const init: RequestInit = { signal };
        if (method === "check") {
          Object.assign(init, { method: "POST", body: JSON.stringify(request), headers: JSON_BODY });
        }
        return await read(await this.ask(`/v1/${method}`, init));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        // Who waits for room for a session may hold all of them himself.
        const full = method === "session_open" && error instanceof ProctorError && error.code === "busy";
        const wait = full ? null : this.wait(error, attempt, again);
        if (wait === null || performance.now() + wait * 1000 > until) throw error;
        await sleep(wait, signal);
      }
    }
  }

  async close(): Promise<void> {
    this.closing.abort(unreachable("the client is closed", false));
  }

  private async go(route: Route, signal: AbortSignal): Promise<unknown> {
    const { verb: method, path, body, raw } = route;
    const json = method === "POST" ? { "Content-Type": "application/json" } : {};
    const init: RequestInit = { method, headers: json as Record<string, string>, signal };
    if (body !== undefined) init.body = body as BodyInit;
    const answer = await this.ask(path, init);
    try {
      if (raw && answer.ok) return await bytesOf(answer);
      return await read(answer);
    } catch (error) {
      if (error instanceof ProctorError || signal.aborted) throw error;
      throw unreachable(`${this.url}: ${describe(error)}`, true, error);
    }
  }

  /**
   * Follows a judgement, or a solver, by its events: a long one is then no silence that somebody cuts off. A run
   * is awaited, since its events bring its output in parts, unless that is what is wanted. Node's
   * fetch waits five minutes.
   */
  private async follow(
    method: "run" | "stream" | "judge" | "solve",
    body: string,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (options.idempotencyKey !== undefined) headers["Idempotency-Key"] = options.idempotencyKey;
    const path = method === "stream" ? "/v1/run" : `/v1/${method}`;
    try {
      const Accept = method === "run" ? "application/json" : "text/event-stream";
      const events = { ...headers, Accept };
      const answer = await this.ask(path, { method: "POST", body, headers: events, signal });
      if (method === "run" || !answer.ok || answer.body === null) return await read(answer);
      for await (const [name, data] of eventsOf(answer.body, this.url)) {
        if (name === "test") options.onTest?.(data as TestResult);
        else if (name === "incumbent") options.onIncumbent?.(data as Incumbent);
        else if (name === "stdout" || name === "stderr") options.onOutput?.(name, data as Output);
        else if (name === "done") return data;
        else if (name === "failed" && isProblem(data)) throw new ProctorError(data);
        else if (name === "cancelled") {
          throw new ProctorError({ status: 409, code: "cancelled", title: "the job was cancelled" });
        }
      }
      throw unreachable(`${this.url}: the events ended before the job`, true);
    } catch (error) {
      if (error instanceof ProctorError) throw error;
      // Without a key the server calls a job off when its client hangs up.
      if (signal.aborted && options.idempotencyKey !== undefined) {
        await this.callOff(path, body, headers);
      }
      if (signal.aborted) throw error;
      throw unreachable(`${this.url}: ${describe(error)}`, true, error);
    }
  }

  /** Calls off a job that its key keeps alive: the same request, not waited for, names it. */
  private async callOff(path: string, body: string, headers: Record<string, string>) {
    const signal = AbortSignal.timeout(10_000);
    try {
      const started = await this.ask(`${path}?wait=false`, { method: "POST", body, headers, signal });
      const { id } = (await read(started)) as { id: string };
      await this.ask(`/v1/jobs/${encodeURIComponent(id)}`, { method: "DELETE", signal });
    } catch (error) {
      // Whoever has given up is not told that the server is gone, too.
      if (!(error instanceof ProctorError) && !signal.aborted) throw error;
    }
  }

  private async ask(path: string, init: RequestInit): Promise<Response> {
    // Of packed bytes a few may be a great many.
    const plain = { "Accept-Encoding": "identity", ...this.headers };
    const headers = { ...plain, ...(init.headers as Record<string, string> | undefined) };
    try {
      return await this.fetch(this.url + path, { ...init, headers, redirect: "error" });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
      throw unreachable(`${this.url}: ${describe(error)}`, !UNSENT.has(code), error);
    }
  }

  /** Seconds until the next attempt; null if there is none. */
  private wait(error: unknown, attempt: number, keyed: boolean): number | null {
    if (!(error instanceof ProctorError) || attempt >= this.attempts) return null;
    const later = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt) * (0.5 + Math.random() / 2);
    if (error.code === "busy" || (error.status === 503 && error.retryAfter !== null)) {
      return (error.retryAfter ?? 0) + later;
    }
    return error.code === "unreachable" && (!error.begun || keyed) ? later : null;
  }
}

function describe(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause;
  return String(cause instanceof Error ? cause.message || cause : error);
}

function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** AbortSignal.any, which not every Node 20 has. */
function anyOf(...signals: AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else {
      const forward = () => controller.abort(signal.reason);
      signal.addEventListener("abort", forward, { once: true, signal: controller.signal });
    }
  }
  return controller.signal;
}
