// What solvers are asked and answer. Unlike the rest of the API, an envelope's fields are camelCase.

/** One generated solver, once. One of `input`, `input_text` and `input_base64` is needed. */
export interface SolveRequest {
  code: string;
  /** Any JSON value but null. */
  input?: unknown;
  /** A document of JSON, which the program gets byte for byte. */
  input_text?: string;
  input_base64?: string;
  /** Id of a profile; default `timetable`. */
  profile?: string;
  /** Wall seconds; default: the profile's. */
  timeout?: number;
  workers?: number;
  seed?: number;
  deterministic?: boolean;
  /** Whether the profile's own model must agree that a solution is one. */
  roundtrip?: boolean;
  /** Data that only the validator sees, for profiles whose validator takes it. */
  reference?: unknown;
}

/** A question about a solver, which is not run. */
export interface CheckRequest {
  code: string;
  /** Id of a profile; default `timetable`. */
  profile?: string;
  /** Whether the parser alone is asked. */
  parse_only?: boolean;
}

export interface CheckResult {
  ok: boolean;
  error: string | null;
}

/** What generated timetable solvers build on. */
export interface Skeleton {
  /** The shortest program that uses it. */
  program: string;
  /** Its modules by their paths beside the program. */
  files: Record<string, string>;
}

/** A solution from before the end, as the program claims it. */
export interface Incumbent {
  /** Seconds after the start. */
  t: number;
  objective: number | null;
  bound: number | null;
  file: string | null;
}

export interface Violation {
  constraintId: string;
  kind: string;
  severity: "hard" | "soft";
  message: string;
  offendingEntries: Record<string, unknown>[];
  penalty: number;
  count: number;
}

/** What a validator says of a solution. */
export interface Validation {
  ok: boolean;
  baseConstraintPass: boolean;
  hardConstraintPass: boolean;
  softConstraintPass: boolean;
  hardCoverageComplete: boolean;
  objective: number | null;
  violations: Violation[];
  hardViolations: Violation[];
  softViolations: Violation[];
  unchecked: { constraintId: string; kind: string; severity: "hard" | "soft"; why: string }[];
  uncheckedConstraintIds: string[];
  hardUncheckedConstraintIds: string[];
  uncheckedNotes: string[];
  customChecks: Record<string, unknown>[];
  figures: Record<string, number>;
}

/** The best that a run left which did not end well. */
export interface PartialSolution {
  available: boolean;
  valid: boolean;
  objective: number | null;
  bound: number | null;
  ageMs: number | null;
  file: string | null;
  data: unknown;
  validation: Validation | null;
}

/** The solution that a solve comes to: the only one to act on. */
export interface SolveAnswer {
  /** The solution, as a result. */
  data: unknown;
  /** `result` if the program ended well with it, `incumbent` if it is from before the end. */
  source: "result" | "incumbent";
  /** As the validator computes it. */
  objective: number | null;
  /** Whether the validator accepts it; false where the profile names none. */
  validated: boolean;
}

export type Ending =
  | "optimal"
  | "feasible"
  | "infeasible"
  | "unknown"
  | "timeout"
  | "cancelled"
  | "crashed";

/** What came of one solver. */
export interface Envelope {
  jobId: string;
  profile: string;
  phase: "prepare" | "compile" | "sandbox" | "run" | "parse";
  status: Ending;
  /** There is a solution: the program's, or a valid one from before its time was over. */
  ok: boolean;
  /** Besides, it breaks no hard constraint, and all could be checked. */
  accepted: boolean;
  /** The solution to act on; null if there is none, or a validator rejects all that there are. */
  answer: SolveAnswer | null;
  statusDetail: string;
  claimedStatus: string | null;
  errorDigest: string;
  resultData: unknown;
  resultSummary: { scheduledCount?: number; unscheduledAssignments?: unknown[] };
  resultPath: string | null;
  partial: PartialSolution;
  incumbents: Incumbent[];
  validation: Validation | null;
  roundtrip: boolean | null;
  warnings: string[];
  stdout: string;
  stderr: string;
  truncated: { stdoutBytes: number; stderrBytes: number };
  markerCount: number;
  exitCode: number | null;
  signal: number | null;
  oom: boolean;
  usage: { wallMs: number; cpuMs: number; peakMemoryMb: number; queueMs: number };
  durationMs: number;
  solverWorkers: number;
  limits: Record<string, number>;
  isolation: string | null;
  guarantees: Record<string, string>;
  artifacts: { name: string; size: number; sha256: string }[];
  fault: { code: string; message: string } | null;
  schemaVersion: number;
}
