import type { ProctorClient } from "./client.js";
import { ProctorError } from "./errors.js";
import type { CheckResult, Ending, Envelope, Incumbent } from "./solving.js";

export interface ExecuteGeneratedOptions {
  /** Default 360000. */
  timeoutMs?: number;
  solverWorkers?: number;
  solverSeed?: number;
  /** Default `timetable`. */
  profile?: string;
  /** Aborting it ends the program, with all its processes; the call rejects with its reason. */
  signal?: AbortSignal;
  onIncumbent?: (incumbent: Incumbent) => void;
}

/** An envelope whose `resultData` and `validation` are those of its answer, if `ok` and there is one. */
export type GeneratedResult = Omit<Envelope, "status"> & {
  status: Ending | "timeout_with_solution";
};

/** Tack's call of this name, over any client. */
export async function executeGeneratedCode(
  client: ProctorClient,
  code: string,
  input: unknown,
  options: ExecuteGeneratedOptions = {},
): Promise<GeneratedResult> {
  const { timeoutMs = 360_000, solverWorkers, solverSeed, profile, signal, onIncumbent } = options;
  const found = await client.solve(
    {
      code,
      input: input ?? {},
      timeout: Math.max(1, Math.ceil(timeoutMs / 1000)),
      ...(solverWorkers ? { workers: Math.max(1, Math.floor(solverWorkers)) } : {}),
      ...(solverSeed === undefined ? {} : { seed: solverSeed }),
      ...(profile === undefined ? {} : { profile }),
    },
    { ...(signal ? { signal } : {}), ...(onIncumbent ? { onIncumbent } : {}) },
  );
  const status = found.status === "timeout" && found.ok ? "timeout_with_solution" : found.status;
  if (!found.ok || !found.answer) return { ...found, status };
  const { data, source } = found.answer;
  const validation = source === "incumbent" ? found.partial.validation : found.validation;
  return { ...found, status, resultData: data, validation };
}

/** What Tack's application asks its host for: `window.electron.python`. */
export interface TackPython {
  executeCode(
    code: string,
    input: unknown,
    timeoutMs?: number,
    solverWorkers?: number,
  ): Promise<GeneratedResult | TackFailure>;
  /** Whether CPython compiles it. */
  syntaxCheck(code: string): Promise<CheckResult>;
  /** Whether CPython parses it. */
  astCheck(code: string): Promise<CheckResult>;
}

/** Answers that there is no envelope for: the host is at fault, or what it was asked cannot be. */
export interface TackFailure {
  phase: "run";
  status: "crashed";
  ok: false;
  errorDigest: string;
}

/**
 * Tack's calls over any client. A client's errors are answers here, with `ok` false, as Tack has them.
 * Aborting `signal` ends programs, and their calls reject with its reason.
 */
export function tackPython(client: ProctorClient, signal?: AbortSignal): TackPython {
  const call = signal ? { signal } : {};
  const checked = async (code: string, parse_only: boolean): Promise<CheckResult> => {
    try {
      return await client.check({ code, parse_only }, call);
    } catch (error) {
      return { ok: false, error: reasonOf(error) };
    }
  };
  return {
    async executeCode(code, input, timeoutMs, solverWorkers) {
      try {
        const found = await executeGeneratedCode(client, code, input, {
          ...call,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(solverWorkers === undefined ? {} : { solverWorkers }),
        });
        const phase = found.phase === "prepare" ? "parse" : found.phase === "sandbox" ? "run" : found.phase;
        return { ...found, phase, errorDigest: found.ok ? "" : found.errorDigest };
      } catch (error) {
        return { phase: "run", status: "crashed", ok: false, errorDigest: reasonOf(error) };
      }
    },
    syntaxCheck: (code) => checked(code, false),
    astCheck: (code) => checked(code, true),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ProctorError) return error.message;
  throw error;
}
