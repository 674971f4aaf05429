/** Reads answers of a server that is trusted by half: bytes, values and time are counted. */
import { broken, isProblem, ProctorError } from "./errors.js";

const MIB = 1 << 20;
/** Most bytes of an answer, of an error and of one event, as they are once unpacked. */
const LONGEST_ANSWER = 256 * MIB;
const LONGEST_ERROR = MIB;
const LONGEST_EVENT = 64 * MIB;
/** Most JSON values of an answer: an object is made of each. */
const MOST_VALUES = 1 << 22;
/** Seconds for an answer, or an event, from its first byte on. */
const WHOLE = 600;
const [LINE_FEED, QUOTE, COMMA, LIST, BACKSLASH, OBJECT] = [10, 34, 44, 91, 92, 123] as const;

/** The value of an answer. Throws the error that it says, or says that it is none. */
export async function read(answer: Response): Promise<unknown> {
  const data = await bytesOf(answer);
  const value = valueOf(data, answer.url, `${answer.status} `);
  if (answer.ok) return value;
  if (!isProblem(value)) throw broken(answer.url, `${answer.status} ${beginning(data)}`);
  const said = answer.headers.get("retry-after") ?? "";
  const retry_after = /^\d{1,9}$/.test(said) ? Number(said) : (value.retry_after ?? null);
  throw new ProctorError({ ...value, retry_after });
}

/** The bytes of an answer. */
export async function bytesOf(answer: Response): Promise<Uint8Array> {
  // Not every fetch has streams.
  if (!answer.body) return new Uint8Array(await answer.arrayBuffer());
  const whole = new Gathered(answer.url, "an answer", answer.ok ? LONGEST_ANSWER : LONGEST_ERROR);
  for await (const part of partsOf(answer.body)) whole.add(part);
  return whole.take();
}

/** The names and data of server-sent events. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  where: string,
): AsyncGenerator<[string, unknown]> {
  const line = new Gathered(where, "an event", LONGEST_EVENT);
  const decoder = new TextDecoder();
  let name = "message";
  for await (const part of partsOf(body)) {
    let start = 0;
    for (let end; (end = part.indexOf(LINE_FEED, start)) >= 0; start = end + 1) {
      line.add(part.subarray(start, end));
      const whole = line.take();
      const field = decoder.decode(whole.subarray(0, 7));
      if (field === "event: ") name = decoder.decode(whole.subarray(7));
      else if (field.startsWith("data: ")) yield [name, valueOf(whole.subarray(6), where)];
    }
    line.add(part.subarray(start));
  }
}

async function* partsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Bytes that come in parts, in one piece that grows: there may be a part for each byte. */
class Gathered {
  private kept = new Uint8Array(0);
  private size = 0;
  private until = Infinity;

  constructor(
    private readonly where: string,
    private readonly what: string,
    private readonly most: number,
  ) {}

  add(part: Uint8Array): void {
    const size = this.size + part.length;
    if (size > this.most) throw broken(this.where, `${this.what} of more than ${this.most} bytes`);
    if (size > this.kept.length) {
      const wider = new Uint8Array(Math.min(this.most, 2 * size));
      wider.set(this.kept.subarray(0, this.size));
      this.kept = wider;
    }
    this.kept.set(part, this.size);
    this.size = size;
    const now = performance.now();
    if (now > this.until) throw broken(this.where, `${this.what} that does not end within ${WHOLE} s`);
    if (size > 0 && this.until === Infinity) this.until = now + WHOLE * 1000;
  }

  /** The bytes so far; what is added then begins anew. */
  take(): Uint8Array {
    const whole = this.kept.subarray(0, this.size);
    this.kept = new Uint8Array(0);
    this.size = 0;
    this.until = Infinity;
    return whole;
  }
}

function valueOf(data: Uint8Array, where: string, before = ""): unknown {
  if (data.length > MOST_VALUES && hasManyValues(data)) {
    throw broken(where, `more than ${MOST_VALUES} JSON values`);
  }
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    throw broken(where, before + beginning(data));
  }
}

function beginning(data: Uint8Array): string {
  return new TextDecoder().decode(data.subarray(0, 1000));
}

function hasManyValues(data: Uint8Array): boolean {
  let count = 1;
  let quoted = false;
  for (let at = 0; at < data.length; at++) {
    const byte = data[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
  }
  return count > MOST_VALUES;
}
