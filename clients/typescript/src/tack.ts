import type { ProctorClient } from "./client.js";
import type { Ending, Envelope, Incumbent } from "./solving.js";

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

/** An envelope; where time was over with a valid solution, that is its `resultData`. */
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
  if (found.status !== "timeout" || !found.ok) return found;
  return { ...found, status: "timeout_with_solution", resultData: found.partial.data };
}
