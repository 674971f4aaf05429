import { connect, ProctorClient } from "../client.js";
import { type ProblemDetails, ProctorError } from "../errors.js";
import type { CallOptions, Method, Transport } from "../transport.js";
import { CALL, CANCEL, INCUMBENT, PROGRESS } from "./channels.js";

/** What is used of Electron's `ipcMain`. */
export interface IpcMainLike {
  handle(channel: string, listener: (event: IpcEventLike, ...args: any[]) => unknown): void;
  removeHandler(channel: string): void;
}

/** What is used of Electron's `IpcMainInvokeEvent`. */
export interface IpcEventLike {
  sender: {
    id: number;
    send(channel: string, ...args: unknown[]): void;
    isDestroyed?(): boolean;
    once?(event: "destroyed", listener: () => void): unknown;
    removeListener?(event: "destroyed", listener: () => void): unknown;
  };
}

/** What crosses to a renderer: errors lose their class and fields on that way. */
export type Answer =
  | { result: unknown }
  | { error: ProblemDetails; begun: boolean }
  | { aborted: true };

export interface Registered {
  client: ProctorClient;
  /** Removes the handlers, calls off what runs, ends the daemon. */
  dispose(): Promise<void>;
}

const METHODS: readonly Method[] = [
  ...(["run", "judge", "solve", "check", "skeleton", "languages", "capabilities"] as const),
];

/**
 * Answers what renderers ask through the preload's bridge. By default over a daemon, which is
 * started by the first call, and again after a crash.
 *
 * A call ends when its renderer aborts it or goes away.
 */
export async function registerHandlers(
  ipcMain: IpcMainLike,
  options: { transport?: Transport; url?: string } = {},
): Promise<Registered> {
  const client = options.transport
    ? new ProctorClient(options.transport)
    : await connect(options.url ?? "daemon:");
  const running = new Map<string, AbortController>();
  // A renderer's numbers are its own.
  const name = (event: IpcEventLike, id: unknown) => `${event.sender.id}/${String(id)}`;

  ipcMain.handle(CALL, async (event, id: unknown, method: unknown, request: unknown, key: unknown) => {
    if (!METHODS.includes(method as Method)) {
      const title = `no method ${String(method)}`;
      return { error: { status: 400, code: "usage", title }, begun: false } satisfies Answer;
    }
    const controller = new AbortController();
    const gone = () => controller.abort();
    running.set(name(event, id), controller);
    event.sender.once?.("destroyed", gone);
    const call: CallOptions = {
      signal: controller.signal,
      onTest: (test) => {
        if (!event.sender.isDestroyed?.()) event.sender.send(PROGRESS, id, test);
      },
      onIncumbent: (incumbent) => {
        if (!event.sender.isDestroyed?.()) event.sender.send(INCUMBENT, id, incumbent);
      },
      ...(typeof key === "string" ? { idempotencyKey: key } : {}),
    };
    try {
      return { result: await client.transport.call(method as Method, request, call) };
    } catch (error) {
      if (error instanceof ProctorError) return { error: error.problem, begun: error.begun };
      if (controller.signal.aborted) return { aborted: true };
      throw error;
    } finally {
      running.delete(name(event, id));
      event.sender.removeListener?.("destroyed", gone);
    }
  });
  ipcMain.handle(CANCEL, (event, id: unknown) => running.get(name(event, id))?.abort());

  return {
    client,
    async dispose() {
      ipcMain.removeHandler(CALL);
      ipcMain.removeHandler(CANCEL);
      for (const controller of running.values()) controller.abort();
      await client.close();
    },
  };
}
