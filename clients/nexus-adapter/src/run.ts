import type { BenchmarkAdapter, Context, Failure, LoadConfig } from "./types.js";

export interface RunOptions<I, R> {
  /** Instances at once; default 1. */
  concurrency?: number;
  /** Milliseconds for one instance, its grading included; default 300000. */
  instanceTimeoutMs?: number;
  limit?: number;
  onProgress?: (done: number, total: number, outcome: { instance: I; result?: R; error?: Error }) => void;
  signal?: AbortSignal;
}

/**
 * Runs all instances and adds them up. What goes wrong with one is its failure, which `summarize`
 * is told of, and no end of the others. Rejects with the signal's reason when that is aborted.
 */
export async function runBenchmark<I, P, R, S>(
  adapter: BenchmarkAdapter<I, P, R, S>,
  config: LoadConfig = {},
  options: RunOptions<I, R> = {},
): Promise<S> {
  const { concurrency = 1, instanceTimeoutMs = 300_000, limit, onProgress, signal } = options;
  if (!(concurrency >= 1)) throw new RangeError(`concurrency must be at least 1, not ${concurrency}`);
  signal?.throwIfAborted();
  const began = performance.now();
  const most = limit === undefined ? config : { ...config, maxInstances: limit };
  const instances = await adapter.loadInstances(most);
  const results = new Array<R | undefined>(instances.length);
  const failures = new Array<Failure<I> | undefined>(instances.length);
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let index = next++; index < instances.length; index = next++) {
      signal?.throwIfAborted();
      const instance = instances[index] as I;
      try {
        const result = await one(adapter, instance, instanceTimeoutMs, signal);
        results[index] = result;
        onProgress?.(++done, instances.length, { instance, result });
      } catch (error) {
        signal?.throwIfAborted();
        const failure = error instanceof Error ? error : new Error(String(error));
        failures[index] = { instance, error: failure };
        onProgress?.(++done, instances.length, { instance, error: failure });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, instances.length) }, work));
  const there = <T>(each: T | undefined): each is T => each !== undefined;
  return adapter.summarize(
    results.filter(there),
    Math.round(performance.now() - began),
    failures.filter(there),
  );
}

async function one<I, P, R, S>(
  adapter: BenchmarkAdapter<I, P, R, S>,
  instance: I,
  timeoutMs: number,
  outer: AbortSignal | undefined,
): Promise<R> {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(
    () => controller.abort(new Error(`not done within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const context: Context = { timeoutMs, signal: controller.signal };
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  aborted.catch(() => undefined); // raced below
  try {
    const prediction = await Promise.race([adapter.runInstance(instance, context), aborted]);
    return await Promise.race([adapter.evaluate(instance, prediction), aborted]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  }
}
