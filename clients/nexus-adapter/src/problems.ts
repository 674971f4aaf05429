import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { AdapterOptions, Instance, LoadConfig } from "./types.js";

/** Problems as `proctor-nexus --list` prints them. Rejects with what it says of its options. */
export async function loadLiveCodeBenchInstances(
  options: AdapterOptions = {},
  config: LoadConfig = {},
): Promise<Instance[]> {
  const words = ["--list", "--source", options.source ?? "fixture"];
  if (options.platforms?.length) words.push("--platforms", options.platforms.join(","));
  if (options.difficulties?.length) words.push("--difficulties", options.difficulties.join(","));
  if (options.minReleaseDate) words.push("--min-release-date", options.minReleaseDate);
  if (config.maxInstances !== undefined) words.push("--limit", String(config.maxInstances));
  const command = options.proctorDir ? join(options.proctorDir, "proctor-nexus") : "proctor-nexus";
  const cache = options.cacheDir === undefined ? {} : { PROCTOR_CACHE_DIR: options.cacheDir };
  const child = spawn(command, words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...cache },
  });
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.once("close", resolve);
  });
  ended.catch(() => undefined); // awaited below
  const found: Instance[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { starterCode, releaseDate, ...rest } = JSON.parse(line) as Instance & { releaseDate: string | null };
    found.push({
      ...rest,
      ...(starterCode ? { starterCode } : {}),
      ...(releaseDate ? { releaseDate } : {}),
    });
  }
  const code = await ended;
  if (code !== 0) throw new Error(said.trim() || `${command} ended with ${code}`);
  return found;
}
