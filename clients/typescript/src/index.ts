export { connect, ProctorClient } from "./client.js";
export type { ConnectOptions, Judged, ManyOptions } from "./client.js";
export { ProctorError } from "./errors.js";
export type { ProblemDetails } from "./errors.js";
export { HttpTransport } from "./http.js";
export type { HttpOptions } from "./http.js";
export { LiveRun } from "./live.js";
export type { Piece } from "./live.js";
export { Session } from "./session.js";
export type { ExecuteOptions } from "./session.js";
export type * from "./solving.js";
export { executeGeneratedCode, tackPython } from "./tack.js";
export type {
  ExecuteGeneratedOptions,
  GeneratedResult,
  TackFailure,
  TackPython,
} from "./tack.js";
export { FallbackTransport } from "./transport.js";
export type { CallOptions, Method, SessionMethod, Transport } from "./transport.js";
export type * from "./types.js";
