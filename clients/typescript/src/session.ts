import { toBase64 } from "./bytes.js";
import { ProctorError } from "./errors.js";
import type { CallOptions, SessionMethod, Transport } from "./transport.js";
import type { ExecuteRequest, ExecuteResult, FileState, Program, SessionState } from "./types.js";

export interface ExecuteOptions {
  /** CPU seconds. */
  cpu?: number;
  /** Seconds. */
  wall?: number;
  /** Aborting it ends the execution; the session goes on. */
  signal?: AbortSignal;
}

type SignalOnly = Pick<ExecuteOptions, "signal">;
const GONE = new Set(["session-ended", "not-found"]);

/** A sandbox whose files and variables last from call to call; see ProctorClient.session. */
export class Session {
  constructor(
    private readonly transport: Transport,
    /** By which ProctorClient.attach finds it again. */
    readonly id: string,
  ) {}

  /** Runs a cell in the interpreter whose state lasts; with `restart`, in a fresh one. */
  runCell(
    code: string,
    options: ExecuteOptions & { restart?: boolean } = {},
  ): Promise<ExecuteResult> {
    const { restart } = options;
    return this.execute({ code, ...(restart === undefined ? {} : { restart }) }, options);
  }

  /** Runs a Python program, a process of its own in the workspace. */
  run(
    program: string | Program,
    options: ExecuteOptions & { stdin?: string | Uint8Array } = {},
  ): Promise<ExecuteResult> {
    const asked = typeof program === "string" ? { source: program } : program;
    return this.execute({ program: asked, ...stdinOf(options.stdin) }, options);
  }

  /** Executes a program of the box and its arguments, such as `["sort", "names.txt"]`. */
  command(
    words: readonly string[],
    options: ExecuteOptions & { stdin?: string | Uint8Array } = {},
  ): Promise<ExecuteResult> {
    return this.execute({ command: [...words], ...stdinOf(options.stdin) }, options);
  }

  /** Puts a file into the workspace, making its directories. */
  async write(path: string, content: string | Uint8Array, options: SignalOnly = {}): Promise<void> {
    const data = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await this.call("session_write", { path, content: data }, options);
  }

  /** Returns a file, up to the session's output limit. */
  async read(path: string, options: SignalOnly = {}): Promise<Uint8Array> {
    return (await this.call("session_read", { path }, options)) as Uint8Array;
  }

  /** The files of the workspace, by path. */
  async files(options: SignalOnly = {}): Promise<FileState[]> {
    return (await this.call("session_files", {}, options)) as FileState[];
  }

  async state(options: SignalOnly = {}): Promise<SessionState> {
    return (await this.call("session_state", {}, options)) as SessionState;
  }

  /** Ends it with all that runs in it; nothing happens if it is over. */
  async close(): Promise<void> {
    try {
      await this.call("session_close", {}, {});
    } catch (error) {
      if (!(error instanceof ProctorError && GONE.has(error.code))) throw error;
    }
  }

  private async execute(asked: ExecuteRequest, options: ExecuteOptions): Promise<ExecuteResult> {
    const { cpu, wall } = options;
    const limits = { ...(cpu === undefined ? {} : { cpu }), ...(wall === undefined ? {} : { wall }) };
    return (await this.call("session_execute", { ...asked, ...limits }, options)) as ExecuteResult;
  }

  private async call(method: SessionMethod, params: object, options: SignalOnly): Promise<unknown> {
    const { signal } = options;
    signal?.throwIfAborted();
    const call: CallOptions = signal ? { signal } : {};
    return this.transport.call(method, { session: this.id, ...params }, call);
  }
}

function stdinOf(stdin: string | Uint8Array | undefined): Pick<ExecuteRequest, "stdin" | "stdin_base64"> {
  if (stdin === undefined) return {};
  return typeof stdin === "string" ? { stdin } : { stdin_base64: toBase64(stdin) };
}
