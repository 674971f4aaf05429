/**
 * The native API's requests and answers, as `proctor serve` and `proctor daemon` take and give them.
 * Seconds and bytes throughout; names are those of the JSON.
 */

/** Bounds on one execution; what is left out has the default of the kind of request. */
export interface Limits {
  cpu?: number;
  wall?: number;
  memory?: number;
  output?: number;
  processes?: number;
  disk?: number;
  stack?: number;
  elapsed?: number;
  loopback?: boolean;
  locks?: boolean;
}

export interface Program {
  source: string;
  /** Default: python. */
  language?: string;
  /** File name of `source`. */
  name?: string;
  /** Further files, base64 by relative path. */
  files?: Record<string, string>;
}

/** One program, once. */
export interface RunRequest {
  program: Program;
  stdin?: string;
  /** Instead of `stdin`, for what is not text. */
  stdin_base64?: string;
  args?: string[];
  environment?: Record<string, string>;
  limits?: Limits;
  /** Files to bring back, by relative path. */
  collect?: string[];
  /** Set of packages that it may import: one of the capabilities' `package_sets`. */
  packages?: string;
}

/** Bytes that a program wrote: as text, and where they are not UTF-8 as base64 too. */
export interface Output {
  text: string;
  base64: string | null;
}

/** Whether an answer says something of the program, the task or the machinery; only the first may be scored. */
export type Outcome = "verdict" | "task_fault" | "infra_fault";

export interface Execution {
  exit_code: number | null;
  signal: number | null;
  stdout: Output;
  stderr: Output;
  cpu: number;
  wall: number;
  memory: number;
  /** The limit that was hit. */
  limit: "cpu" | "wall" | "idle" | "memory" | "output" | "processes" | "disk" | null;
}

export interface Compilation {
  ok: boolean;
  output: string;
  wall: number;
}

export interface RunResult {
  outcome: Outcome;
  verdict: "OK" | "CE" | "RE" | "TLE" | "ILE" | "MLE" | "OLE";
  compilation: Compilation | null;
  execution: Execution | null;
  /** Base64 by relative path. */
  files: Record<string, string>;
  /** Seconds that it waited for its turn. */
  queue: number;
  isolation: string | null;
  id: string;
}

export interface Test {
  input?: string;
  output?: string;
  name?: string;
}

/** Grading by a program in a cell of its own. */
export interface Checker {
  program: Program;
  convention?: "testlib" | "score" | "testlib-score" | "exit-code" | "kattis" | "printed";
  flags?: string[];
}

/** Grading without a program. */
export interface Comparison {
  match?:
    | "exact"
    | "lines"
    | "tokens"
    | "unordered-lines"
    | "raw-lines"
    | "token-lines"
    | "unordered-tokens"
    | "characters"
    | "yes-no"
    | "last-line";
  case_sensitive?: boolean;
  space_sensitive?: boolean;
  absolute?: number;
  relative?: number;
}

export interface Subtask {
  name: string;
  points: number;
  tests: string[];
  aggregate?: "min" | "sum" | "threshold" | "product";
}

/** What a program is judged against: tests here, or a row of a data set. */
export interface Problem {
  id?: string;
  tests?: Test[];
  /** Python function to call: inputs are then JSON values, one a line, outputs one JSON value, or
   *  several, one a line, any of which is right. */
  function?: string;
  comparison?: Comparison;
  checker?: Checker;
  interactor?: Checker;
  subtasks?: Subtask[];
  format?: "tests" | "livecodebench" | "codeforces";
  row?: Record<string, unknown>;
}

/** One program against one problem. */
export interface JudgeRequest {
  program: Program;
  problem: Problem;
  /** Per test. */
  limits?: Limits;
  mode?: "standard" | "official";
  stop?: "first" | "crash" | "never";
  fast?: boolean;
  packages?: string;
}

export interface TestResult {
  name: string;
  verdict: string;
  score: number;
  cpu: number;
  wall: number;
  memory: number;
  message: string;
}

export interface SubtaskResult {
  name: string;
  verdict: string;
  score: number | null;
  points: number | null;
  of: number;
}

export interface JudgeResult {
  outcome: Outcome;
  /** AC, WA, PE, TLE, ILE, MLE, OLE, RE, CE, NC, TASK_FAULT or INFRA_FAULT. */
  verdict: string;
  passed: boolean;
  /** 0 to 1; null for a fault, which must not be scored. */
  score: number | null;
  points: number | null;
  of: number | null;
  tests: TestResult[];
  subtasks: SubtaskResult[];
  message: string;
  compiler_output: string;
  queue: number;
  isolation: string | null;
  id: string;
}

export interface Language {
  id: string;
  name: string;
  aliases: string[];
  version: string;
}

export interface Guarantee {
  strength: "full" | "partial" | "none";
  how: string;
  gap: string;
}

export interface Capabilities {
  version: string;
  isolation: string;
  guarantees: Record<string, Guarantee>;
  /** Jobs at once. */
  places: number;
  waiting: number;
  running: number;
  /** Names for `packages` of a request. */
  package_sets: string[];
}

/** A session to be opened. */
export interface SessionRequest {
  /** cpu, wall and output for each execution, the others for the session. */
  limits?: Limits;
  /** Seconds without use after which it ends; default 600. */
  idle?: number;
  packages?: string;
}

export interface SessionState {
  id: string;
  isolation: string;
  limits: Limits;
  idle: number;
  /** Unix time. */
  opened: number;
  /** How many were begun. */
  executions: number;
  /** Whether something runs or waits in it. */
  busy: boolean;
}

/** One of `code`, `program` and `command`. */
export interface ExecuteRequest {
  code?: string;
  program?: Program;
  command?: string[];
  stdin?: string;
  stdin_base64?: string;
  cpu?: number;
  wall?: number;
  restart?: boolean;
}

/** The exception that ended a cell. */
export interface Raised {
  name: string;
  value: string;
  /** Lines, with their ends. */
  traceback: string[];
}

/** What an execution in a session came to. */
export interface ExecuteResult {
  outcome: Outcome;
  verdict: "OK" | "RE" | "TLE" | "ILE" | "MLE" | "OLE";
  stdout: Output;
  stderr: Output;
  /** Of a cell: representation of the last line's value. */
  result: string | null;
  /** Of a cell: what it showed, by MIME type. */
  displays: Record<string, string>[];
  error: Raised | null;
  exit_code: number | null;
  signal: number | null;
  limit: Execution["limit"];
  /** Of a cell: whether the interpreter was new to it. */
  fresh: boolean;
  /** Of a cell: whether it ended the interpreter, with all its state. */
  ended: boolean;
  cpu: number;
  queue: number;
}

export interface FileState {
  path: string;
  size: number;
}
