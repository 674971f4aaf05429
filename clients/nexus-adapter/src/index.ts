export { LiveCodeBenchAdapter } from "./adapter.js";
export { extractPythonCode } from "./extract.js";
export { createOpenAIAdapter } from "./openai.js";
export type { OpenAIOptions } from "./openai.js";
export { loadLiveCodeBenchInstances } from "./problems.js";
export { composeUserPrompt, getSystemPrompt } from "./prompt.js";
export { runBenchmark } from "./run.js";
export type * from "./types.js";
