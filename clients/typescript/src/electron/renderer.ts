import { ProctorClient } from "../client.js";
import { broken, isProblem, ProctorError, unreachable } from "../errors.js";
import { HttpTransport } from "../http.js";
import type { Incumbent } from "../solving.js";
import { type CallOptions, FallbackTransport, type Method, type Transport } from "../transport.js";
import type { TestResult } from "../types.js";
import type { Answer } from "./main.js";
import type { Bridge } from "./preload.js";

export { executeGeneratedCode } from "../tack.js";

export interface RendererOptions {
  /** Default: `window.proctor`, where a preload has exposed it. */
  bridge?: Bridge;
  /** Of a `proctor serve`, for pages outside Electron, and for calls that the bridge cannot begin. */
  url?: string;
  token?: string;
}

/** Returns a page's client: over the bridge if there is one, else, or call by call, over HTTP. */
export function connectRenderer(options: RendererOptions = {}): ProctorClient {
  const bridge = options.bridge ?? (globalThis as { proctor?: Bridge }).proctor;
  const ways: Transport[] = bridge ? [new BridgeTransport(bridge)] : [];
  if (options.url !== undefined) {
    const { url, token } = options;
    ways.push(new HttpTransport({ url, ...(token ? { token } : {}) }));
  }
  if (ways.length === 0) throw new TypeError("there is neither a bridge nor a URL");
  return new ProctorClient(new FallbackTransport(ways));
}

// A page that is loaded again must not take answers that were the last one's.
const PAGE = Math.random().toString(36).slice(2);
let last = 0;

/** Over a preload's bridge, to the main process. */
export class BridgeTransport implements Transport {
  private readonly listeners = new Map<string, (test: TestResult) => void>();

  private readonly solvers = new Map<string, (incumbent: Incumbent) => void>();

  constructor(private readonly bridge: Bridge) {
    bridge.onTest((id, test) => this.listeners.get(id)?.(test));
    bridge.onIncumbent((id, incumbent) => this.solvers.get(id)?.(incumbent));
  }

  async call(method: Method, request: unknown, options: CallOptions): Promise<unknown> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (method === "stream" || method.startsWith("session_")) {
      throw unreachable(`the main process has no ${method}`, false);
    }
    const id = `${PAGE}-${++last}`;
    const stop = () => void this.bridge.cancel(id);
    if (options.onTest) this.listeners.set(id, options.onTest);
    if (options.onIncumbent) this.solvers.set(id, options.onIncumbent);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const answer = await this.ask(id, method, request, options.idempotencyKey);
      if ("result" in answer) return answer.result;
      if ("error" in answer && isProblem(answer.error)) {
        throw new ProctorError(answer.error, answer.begun);
      }
      signal?.throwIfAborted();
      throw broken("the main process", JSON.stringify(answer));
    } finally {
      signal?.removeEventListener("abort", stop);
      this.listeners.delete(id);
      this.solvers.delete(id);
    }
  }

  /** What a page began ends with its calls; the daemon is the main process's. */
  async close(): Promise<void> {}

  private async ask(id: string, method: Method, request: unknown, key?: string): Promise<Answer> {
    try {
      return (await this.bridge.call(id, method, request, key)) as Answer;
    } catch (error) {
      // No handler is registered, or it is broken: what it began is not known.
      const begun = !String(error).includes("No handler registered");
      throw unreachable(`the main process: ${String(error)}`, begun, error);
    }
  }
}
