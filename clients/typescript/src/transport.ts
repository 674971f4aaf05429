import { ProctorError } from "./errors.js";
import type { Incumbent } from "./solving.js";
import type { Output, TestResult } from "./types.js";

/**
 * `session_write` takes its `content` as bytes, and `session_read` gives bytes: how they travel is
 * the transport's business.
 */
export type SessionMethod =
  | "session_open"
  | "session_list"
  | "session_state"
  | "session_execute"
  | "session_files"
  | "session_read"
  | "session_write"
  | "session_close";
export type Method =
  | "run"
  | "stream"
  | "judge"
  | "solve"
  | "check"
  | "skeleton"
  | "languages"
  | "capabilities"
  | SessionMethod;

export interface CallOptions {
  /** Aborting it ends the job, with all its processes. */
  signal?: AbortSignal;
  /** The same request with the same key is done once, and so may be made again when a line breaks. */
  idempotencyKey?: string;
  /** Is told of each test as it is judged. */
  onTest?: (test: TestResult) => void;
  /** Is given a solver's incumbents as they are found. */
  onIncumbent?: (incumbent: Incumbent) => void;
  /** Is given the output of `stream` as it comes. */
  onOutput?: (stream: "stdout" | "stderr", output: Output) => void;
}

/** A way to a proctor. Rejects with ProctorError, or with the signal's reason. */
export interface Transport {
  call(method: Method, request: unknown, options: CallOptions): Promise<unknown>;
  /** Ends what was started for this transport, and all that runs there. */
  close(): Promise<void>;
}

/**
 * Several ways, the best first: what cannot begin on one is tried on the next, call by call. A
 * session stays where it was opened.
 */
export class FallbackTransport implements Transport {
  private readonly homes = new Map<string, Transport>();

  constructor(private readonly ways: readonly Transport[]) {}

  async call(method: Method, request: unknown, options: CallOptions): Promise<unknown> {
    const { session } = (request ?? {}) as { session?: string };
    const home = session === undefined ? undefined : this.homes.get(session);
    if (session !== undefined && method === "session_close") this.homes.delete(session);
    let last: unknown;
    for (const way of home ? [home] : this.ways) {
      try {
        const answer = await way.call(method, request, options);
        if (method === "session_open") this.homes.set((answer as { id: string }).id, way);
        return answer;
      } catch (error) {
        const again = !(error instanceof ProctorError && error.begun) || options.idempotencyKey;
        if (!(error instanceof ProctorError) || error.code !== "unreachable" || !again) throw error;
        last = error;
      }
    }
    throw last ?? new Error("there is no way to proctor");
  }

  async close(): Promise<void> {
    await Promise.all(this.ways.map((way) => way.close()));
  }
}
