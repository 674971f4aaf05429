import { join } from "node:path";

import { connect, type ProctorClient } from "proctor-client";

import { extractPythonCode } from "./extract.js";
import { loadLiveCodeBenchInstances } from "./problems.js";
import { composeUserPrompt, getSystemPrompt } from "./prompt.js";
import type {
  AdapterOptions,
  BenchmarkAdapter,
  CompletionResponse,
  Context,
  Failure,
  Instance,
  LoadConfig,
  ModelAdapter,
  Prediction,
  Result,
  Score,
  Summary,
} from "./types.js";

/**
 * LiveCodeBench: asks a model once for each problem, and judges its program in proctor's cells, over
 * a daemon that the first program starts. Call `close` at the end.
 */
export class LiveCodeBenchAdapter implements BenchmarkAdapter<Instance, Prediction, Result, Summary> {
  readonly name = "livecodebench";
  readonly variant = "code_generation";
  private client: Promise<ProctorClient> | null = null;

  constructor(
    private readonly model: ModelAdapter,
    private readonly options: AdapterOptions = {},
  ) {
    if ("agenticMode" in options && options.agenticMode) {
      throw new TypeError("agents are run by `proctor-nexus --agentic-mode`, not by this adapter");
    }
  }

  loadInstances(config: LoadConfig = {}): Promise<Instance[]> {
    return loadLiveCodeBenchInstances(this.options, config);
  }

  async runInstance(instance: Instance, context: Context): Promise<Prediction> {
    const { temperature, maxTokens } = this.options;
    context.onProgress?.("asking");
    const answered = await this.model.complete({
      messages: [
        { role: "system", content: getSystemPrompt() },
        { role: "user", content: composeUserPrompt(instance) },
      ],
      signal: context.signal,
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
    });
    const response = opened(answered);
    const rawResponse = textOf(response);
    const { instanceId } = instance;
    const usage = response.usage ? { usage: response.usage } : {};
    return { instanceId, code: extractPythonCode(rawResponse), rawResponse, ...usage };
  }

  /** Judges a program. Rejects where it could not be judged: that says nothing of the program. */
  async evaluate(instance: Instance, prediction: Prediction): Promise<Result> {
    const { instanceId, platform, difficulty } = instance;
    const usage = prediction.usage ? { usage: prediction.usage } : {};
    const head = { instanceId, platform, difficulty, ...usage };
    if (!prediction.code.trim()) {
      return { ...head, passed: false, reason: "the reply has no Python program" };
    }
    if (this.options.runTests === false) return { ...head, passed: true };
    this.client ??= this.opened();
    const found = await (await this.client).judge({
      program: { source: prediction.code },
      problem: { format: "livecodebench", row: instance.row },
      limits: { cpu: (this.options.testTimeoutMs ?? 15_000) / 1000 },
      mode: "standard",
      stop: "first",
    });
    if (found.outcome !== "verdict") throw new Error(`${found.verdict}: ${found.message}`);
    const passed = found.tests.filter((test) => test.verdict === "AC").length;
    const counts = { verdict: found.verdict, testsRun: found.tests.length, testsPassed: passed };
    if (found.passed) return { ...head, passed: true, ...counts };
    const reason = found.message ? `${found.verdict}: ${found.message}` : found.verdict;
    return { ...head, passed: false, reason, ...counts };
  }

  isPass(result: Result): boolean {
    return result.passed;
  }

  summarize(results: Result[], runTimeMs: number, failures: Failure<Instance>[] = []): Summary {
    const lost = failures.map(({ instance: { platform, difficulty } }) => ({
      platform, difficulty, passed: false,
    }));
    const all = [...results, ...lost];
    const whole = scoreOf(all);
    const metadata: Summary["metadata"] = {
      byPlatform: grouped(all, (each) => each.platform),
      byDifficulty: grouped(all, (each) => each.difficulty),
      note:
        this.options.runTests === false
          ? "no tests were run: an instance passes if its reply has code"
          : "programs were run on all tests",
    };
    const told = results.filter((each) => each.usage);
    if (told.length > 0) {
      metadata.tokens = {
        inputTokens: sum(told.map((each) => each.usage?.inputTokens ?? 0)),
        outputTokens: sum(told.map((each) => each.usage?.outputTokens ?? 0)),
      };
    }
    if (failures.length > 0) {
      metadata.failureCount = failures.length;
      metadata.sampleFailure = failures[0]?.error.message ?? "";
      metadata.passRateBounds = [whole.passRate, (whole.passed + failures.length) / whole.total];
    }
    return { name: this.name, variant: this.variant, ...whole, runTimeMs, metadata };
  }

  /** Ends the daemon. */
  async close(): Promise<void> {
    const client = this.client;
    this.client = null;
    await (await client)?.close();
  }

  private opened(): Promise<ProctorClient> {
    const { proctorDir } = this.options;
    return connect(proctorDir ? `daemon:${join(proctorDir, "proctor")}` : "daemon:");
  }
}

function opened(answered: Awaited<ReturnType<ModelAdapter["complete"]>>): CompletionResponse {
  if (!("ok" in answered)) return answered;
  if (answered.ok) return answered.value;
  throw answered.error instanceof Error ? answered.error : new Error(String(answered.error));
}

function textOf({ content }: CompletionResponse): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
}

function grouped<T extends { passed: boolean }>(
  all: T[],
  of: (each: T) => string,
): Record<string, Score> {
  const names = [...new Set(all.map(of))].sort();
  return Object.fromEntries(names.map((name) => [name, scoreOf(all.filter((each) => of(each) === name))]));
}

function scoreOf(all: { passed: boolean }[]): Score {
  const passed = all.filter((each) => each.passed).length;
  return { total: all.length, passed, passRate: all.length ? passed / all.length : 0 };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
