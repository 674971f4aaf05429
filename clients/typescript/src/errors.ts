/** What is wrong, as every door of proctor says it (RFC 9457). */
export interface ProblemDetails {
  status: number;
  /** Stable: `bad-input`, `no-language`, `busy`, `cancelled`, `infra-fault`, `unauthorized`, ... */
  code: string;
  title: string;
  detail?: string;
  /** Which part of the request is at fault. */
  field?: string | null;
  /** Whether the same request may be answered otherwise at another time. */
  retryable?: boolean;
  /** Seconds after which there may be room. */
  retry_after?: number | null;
}

/**
 * A request that has no result. Two codes are this client's own: `unreachable` where nothing
 * answers or the line breaks, `reply-broken` where what answers is no proctor.
 *
 * It never says anything of the program: what that does wrong is in a result.
 */
export class ProctorError extends Error {
  override readonly name = "ProctorError";
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly field: string | null;
  readonly retryable: boolean;
  /** Seconds after which there may be room, if that is known. */
  readonly retryAfter: number | null;

  constructor(
    readonly problem: ProblemDetails,
    /** Whether the request may have been begun at the other end. */
    readonly begun = true,
    options?: ErrorOptions,
  ) {
    super(problem.detail || problem.title, options);
    this.code = problem.code;
    this.status = problem.status;
    this.title = problem.title;
    this.field = problem.field ?? null;
    this.retryable = problem.retryable ?? false;
    this.retryAfter = problem.retry_after ?? null;
  }
}

/** Nothing answers, or the line broke. */
export function unreachable(title: string, begun: boolean, cause?: unknown): ProctorError {
  return new ProctorError({ status: 503, code: "unreachable", title, retryable: true }, begun, {
    cause,
  });
}

/** What answers is no proctor. */
export function broken(where: string, what: string): ProctorError {
  const title = `${where} answered what is not an answer of proctor's: ${what.slice(0, 200)}`;
  return new ProctorError({ status: 502, code: "reply-broken", title });
}

export function isProblem(value: unknown): value is ProblemDetails {
  if (typeof value !== "object" || value === null) return false;
  const { status, code, title, detail = "", retry_after = null } = value as Record<string, unknown>;
  return (
    typeof status === "number" &&
    [code, title, detail].every((each) => typeof each === "string") &&
    (retry_after === null || typeof retry_after === "number")
  );
}
