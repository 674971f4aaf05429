import { bytesOf } from "./bytes.js";
import type { CallOptions } from "./transport.js";
import type { Output, RunResult } from "./types.js";

/** Some of what a program wrote, as it wrote it. */
export interface Piece {
  stream: "stdout" | "stderr";
  /** It as text; a character that is split between two pieces is in neither. */
  text: string;
  data: Uint8Array;
}

/** One run whose output comes as it is written. Leaving its loop early calls it off. */
export class LiveRun implements AsyncIterable<Piece> {
  /** What came of it, without its output, which was in the pieces. */
  readonly result: Promise<RunResult>;
  private readonly pieces: Piece[] = [];
  private readonly over = new AbortController();
  private ended = false;
  private wake: () => void = () => undefined;

  /** `start` runs it; `signal` calls it off. Use ProctorClient.stream. */
  constructor(start: (options: CallOptions) => Promise<RunResult>, signal?: AbortSignal) {
    const stop = () => this.over.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const onOutput = (stream: Piece["stream"], output: Output) => {
      this.pieces.push({ stream, text: output.text, data: bytesOf(output) });
      this.wake();
    };
    this.result = start({ signal: this.over.signal, onOutput }).finally(() => {
      signal?.removeEventListener("abort", stop);
      this.ended = true;
      this.wake();
    });
    this.result.catch(() => undefined); // whoever asks for it, or reads to the end, is told
  }

  /** Calls it off, with all its processes; nothing happens if it has ended. */
  cancel(): void {
    this.over.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Piece, void, undefined> {
    try {
      for (;;) {
        for (let piece = this.pieces.shift(); piece; piece = this.pieces.shift()) yield piece;
        if (this.ended) break;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
      await this.result;
    } finally {
      this.over.abort();
    }
  }
}
