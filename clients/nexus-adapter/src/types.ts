/** One problem. `row` is what it is judged by, hidden tests included: not for prompts. */
export interface Instance {
  instanceId: string;
  platform: string;
  difficulty: string;
  problemStatement: string;
  publicTests: { input: string; expectedOutput: string }[];
  starterCode?: string;
  /** YYYY-MM-DD. */
  releaseDate?: string;
  row: Record<string, unknown>;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
}

/** A model's program for one instance; `code` is empty where its reply has none. */
export interface Prediction {
  instanceId: string;
  code: string;
  rawResponse: string;
  usage?: Usage;
}

export interface Result {
  instanceId: string;
  platform: string;
  difficulty: string;
  passed: boolean;
  /** Why not, if it has not passed. */
  reason?: string;
  /** AC, WA, TLE, RE, ...; missing where no tests were run. */
  verdict?: string;
  testsRun?: number;
  testsPassed?: number;
  usage?: Usage;
}

export interface Score {
  total: number;
  passed: number;
  passRate: number;
}

export interface Summary extends Score {
  name: string;
  variant: string;
  runTimeMs: number;
  metadata: {
    byPlatform: Record<string, Score>;
    byDifficulty: Record<string, Score>;
    note: string;
    tokens?: Required<Usage>;
    /** Instances that came to no result; they are part of `total`. */
    failureCount?: number;
    sampleFailure?: string;
    /** The pass rate if all of them had failed, and if all had passed. */
    passRateBounds?: [number, number];
  };
}

/** What a run tells an adapter about one instance's turn. */
export interface Context {
  timeoutMs: number;
  /** Is aborted when the time is over, or the run is. */
  signal: AbortSignal;
  onProgress?: (message: string) => void;
}

/** An instance that came to no result, and why. */
export interface Failure<I> {
  instance: I;
  error: Error;
}

export interface LoadConfig {
  /** The first so many. */
  maxInstances?: number;
}

/** A benchmark that asks, grades and adds up by itself. */
export interface BenchmarkAdapter<I, P, R, S> {
  readonly name: string;
  readonly variant?: string;
  loadInstances(config?: LoadConfig): Promise<I[]>;
  runInstance(instance: I, context: Context): Promise<P>;
  evaluate(instance: I, prediction: P): Promise<R>;
  isPass(result: R): boolean;
  /** Results in the order of the instances, and the instances that have none. */
  summarize(results: R[], runTimeMs: number, failures?: Failure<I>[]): S;
}

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface CompletionRequest {
  messages: ChatMessage[];
  temperature?: number;
  maxTokens?: number;
  signal?: AbortSignal;
}

/** A reply: a text, or blocks of which those of type `text` count. */
export interface CompletionResponse {
  content: string | { type: string; text?: string }[];
  usage?: Usage;
}

/** A model, as nexus-agents has it: a rejection, or `ok` false, is a failure of the instance. */
export interface ModelAdapter {
  complete(
    request: CompletionRequest,
  ): Promise<
    CompletionResponse | { ok: true; value: CompletionResponse } | { ok: false; error: unknown }
  >;
}

export interface AdapterOptions {
  /** `fixture` (default), `huggingface[:CONFIG]`, or a JSONL file. */
  source?: string;
  platforms?: string[];
  difficulties?: string[];
  /** YYYY-MM-DD. */
  minReleaseDate?: string;
  /** Where problems from the hub are kept; default: proctor's cache. */
  cacheDir?: string;
  /** False: an instance passes if its reply has a program. Default true. */
  runTests?: boolean;
  /** Milliseconds of CPU time for one test; default 15000. */
  testTimeoutMs?: number;
  temperature?: number;
  maxTokens?: number;
  /** Directory of the commands `proctor` and `proctor-nexus`; default: those on PATH. */
  proctorDir?: string;
}
