import type { CompletionRequest, CompletionResponse, ModelAdapter } from "./types.js";

export interface OpenAIOptions {
  modelId: string;
  /** Default: OPENAI_API_KEY. A server of one's own may need none. */
  apiKey?: string;
  /** Up to and including the version; default: OPENAI_BASE_URL, else OpenAI's. */
  baseURL?: string;
  /** Attempts at one request; default 3. */
  attempts?: number;
  fetch?: typeof globalThis.fetch;
}

interface Answer {
  choices?: { message?: { content?: string | null } }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number };
}

/** A model behind a server that speaks OpenAI's chat completions. */
export function createOpenAIAdapter(options: OpenAIOptions): ModelAdapter {
  const env = globalThis.process?.env ?? {};
  const apiKey = options.apiKey ?? env["OPENAI_API_KEY"] ?? "";
  const baseURL = (options.baseURL ?? env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1").replace(/\/+$/, "");
  const ask = options.fetch ?? globalThis.fetch;
  if (!apiKey && baseURL === "https://api.openai.com/v1") {
    throw new TypeError("OPENAI_API_KEY is not set, and OpenAI's own server needs one");
  }
  const once = async (request: CompletionRequest): Promise<Response> =>
    ask(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}),
      },
      body: JSON.stringify({
        model: options.modelId,
        messages: request.messages,
        ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
        ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
      }),
      ...(request.signal ? { signal: request.signal } : {}),
    });
  return {
    async complete(request) {
      for (let attempt = 1; ; attempt++) {
        const last = attempt >= (options.attempts ?? 3);
        try {
          const answer = await once(request);
          if (answer.ok) return read((await answer.json()) as Answer);
          const passing = answer.status === 429 || answer.status >= 500;
          if (!passing || last) {
            throw new Error(`${baseURL} answers ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
          }
        } catch (error) {
          // fetch rejects with a TypeError where there is no connection.
          if (last || request.signal?.aborted || !(error instanceof TypeError)) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
      }
    },
  };
}

function read(answer: Answer): CompletionResponse {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = answer.usage ?? {};
  return {
    content: answer.choices?.[0]?.message?.content ?? "",
    usage: {
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens }),
    },
  };
}
