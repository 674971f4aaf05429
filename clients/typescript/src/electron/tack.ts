// Tack's own channels and names, so that its renderer goes on as it is.
import type { ProctorClient } from "../client.js";
import { type TackPython, tackPython } from "../tack.js";
import type { IpcMainLike } from "./main.js";
import type { ContextBridgeLike, IpcRendererLike } from "./preload.js";

const CALLS = ["executeCode", "syntaxCheck", "astCheck"] as const;

/**
 * Main: answers `python:executeCode`, `python:syntaxCheck` and `python:astCheck`; a program ends when
 * its page goes away. Returns what removes the handlers.
 */
export function registerTackHandlers(ipcMain: IpcMainLike, client: ProctorClient): () => void {
  for (const call of CALLS) {
    ipcMain.handle(`python:${call}`, async (event, ...args) => {
      const controller = new AbortController();
      const gone = () => controller.abort();
      event.sender.once?.("destroyed", gone);
      try {
        const python = tackPython(client, controller.signal);
        return await (python[call] as (...args: unknown[]) => Promise<unknown>)(...args);
      } finally {
        event.sender.removeListener?.("destroyed", gone);
      }
    });
  }
  return () => {
    for (const call of CALLS) ipcMain.removeHandler(`python:${call}`);
  };
}

/** Preload: what a page finds as `window.electron.python`. */
export function tackBridge(ipcRenderer: IpcRendererLike): TackPython {
  return {
    executeCode: (...args) => ipcRenderer.invoke("python:executeCode", ...args),
    syntaxCheck: (code) => ipcRenderer.invoke("python:syntaxCheck", code),
    astCheck: (code) => ipcRenderer.invoke("python:astCheck", code),
  };
}

/** Preload: exposes it. A preload that exposes an `electron` of its own puts `tackBridge` into that. */
export function exposeTack(contextBridge: ContextBridgeLike, ipcRenderer: IpcRendererLike): void {
  contextBridge.exposeInMainWorld("electron", { python: tackBridge(ipcRenderer) });
}
