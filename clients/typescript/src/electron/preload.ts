import type { Incumbent } from "../solving.js";
import type { TestResult } from "../types.js";
import { CALL, CANCEL, INCUMBENT, PROGRESS } from "./channels.js";

/** What is used of Electron's `contextBridge`. */
export interface ContextBridgeLike {
  exposeInMainWorld(name: string, api: unknown): void;
}

/** What is used of Electron's `ipcRenderer`. */
export interface IpcRendererLike {
  invoke(channel: string, ...args: any[]): Promise<any>;
  on(channel: string, listener: (event: any, ...args: any[]) => void): unknown;
}

/** What a page finds in its world: nothing but these four, and no channel of its choice. */
export interface Bridge {
  call(id: string, method: string, request: unknown, key?: string): Promise<unknown>;
  cancel(id: string): Promise<void>;
  onTest(listener: (id: string, test: TestResult) => void): void;
  onIncumbent(listener: (id: string, incumbent: Incumbent) => void): void;
}

/** Gives a page its bridge, as `window.proctor`. */
export function expose(
  contextBridge: ContextBridgeLike,
  ipcRenderer: IpcRendererLike,
  name = "proctor",
): void {
  const bridge: Bridge = {
    call: (id, method, request, key) => ipcRenderer.invoke(CALL, id, method, request, key),
    cancel: (id) => ipcRenderer.invoke(CANCEL, id),
    onTest: (listener) => {
      ipcRenderer.on(PROGRESS, (_event, id: string, test: TestResult) => listener(id, test));
    },
    onIncumbent: (listener) => {
      ipcRenderer.on(INCUMBENT, (_event, id: string, found: Incumbent) => listener(id, found));
    },
  };
  contextBridge.exposeInMainWorld(name, bridge);
}
