import { ProctorError } from "./errors.js";
import type { SessionMethod } from "./transport.js";

/** How a server is asked for what a method does. */
export interface Route {
  verb: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: string | Uint8Array;
  /** Whether it can be asked again when the line breaks: it does nothing twice. */
  again: boolean;
  /** Whether the answer is bytes. */
  raw?: boolean;
}

interface Params {
  session: string;
  path: string;
  content: Uint8Array;
}

/** The route of a method for sessions. Throws ProctorError for what no URL can say. */
export function routeOf(method: SessionMethod, request: unknown): Route {
  const { session, path, content, ...rest } = request as Params;
  switch (method) {
    case "session_open":
      return { verb: "POST", path: "/v1/sessions", body: JSON.stringify(rest), again: false };
    case "session_list":
      return { verb: "GET", path: "/v1/sessions", again: true };
    case "session_state":
      return { verb: "GET", path: place(session), again: true };
    case "session_close":
      return { verb: "DELETE", path: place(session), again: false };
    case "session_execute": {
      const body = JSON.stringify(rest);
      return { verb: "POST", path: `${place(session)}/execute`, body, again: false };
    }
    case "session_files":
      return { verb: "GET", path: `${place(session)}/files`, again: true };
    case "session_read":
      return { verb: "GET", path: file(session, path), again: true, raw: true };
    case "session_write":
      return { verb: "PUT", path: file(session, path), body: content, again: true };
  }
}

function place(session: string): string {
  if (/^[\w-]+$/.test(session)) return `/v1/sessions/${session}`;
  throw new ProctorError(
    { status: 404, code: "not-found", title: `there is no session ${session} of yours` },
    false,
  );
}

/** With a `..` in it, the path would be one to something else. */
function file(session: string, path: string): string {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    const title = `${path} is not a plain relative path`;
    throw new ProctorError({ status: 422, code: "bad-input", title, field: "files" }, false);
  }
  return `${place(session)}/files/${parts.map(encodeURIComponent).join("/")}`;
}
