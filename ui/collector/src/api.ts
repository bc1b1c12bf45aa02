// The questions that the collector answers. crates/collector/src/answers.rs is the other side.

export interface FunctionName {
  /** Empty for an anonymous function. */
  name: string;
  /** Its source, or the URL of its script; null for a native function. */
  resource: string | null;
  line: number | null;
  column: number | null;
}

/** Times are in milliseconds, the sums of all sessions. */
export interface FunctionsAnswer {
  profiles: number;
  sessions: number;
  samples: number;
  busy: { time: number };
  functions: (FunctionName & { selfTime: number; totalTime: number; selfSamples: number })[];
}

export interface FlameGraphAnswer {
  profiles: number;
  sessions: number;
  functions: FunctionName[];
  /** A caller precedes what it calls. */
  nodes: { function: number; parent: number | null; selfTime: number }[];
}

export type Verdict = 'slower' | 'faster' | 'no-evidence' | 'too-few-sessions';

/** Means of sessions, in milliseconds. Intervals contain the value with a probability of 95%. */
export interface TimeChange {
  base: number;
  new: number;
  difference: number;
  differenceInterval: [number, number] | null;
  ratio: number | null;
  ratioInterval: [number, number] | null;
  /** The probability that two equal selections have any function with so clear a difference; null if it was not tested. */
  probability: number | null;
  verdict: Verdict;
}

export interface ChangeAnswer {
  name: string;
  resource: string | null;
  selfTime: TimeChange;
  totalTime: TimeChange;
}

export interface DiffAnswer {
  base: { profiles: number; sessions: number; busyTime: number };
  new: { profiles: number; sessions: number; busyTime: number };
  tested: number;
  functions: ChangeAnswer[];
}

/** What profiles have in a column. Times are in milliseconds since 1970. */
export interface ColumnValue {
  value: string;
  profiles: number;
  firstSeen: number;
  lastSeen: number;
}

/** The collector has not answered as asked. The status is 0 if it has not answered at all. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Parameters = Record<string, string>;

/** Where the token is kept until the tab is closed. */
const TOKEN = 'selfprof-token';
/** Views share answers. An answer is not used again when it is older, in milliseconds. */
const MAX_AGE = 60_000;
const MAX_ANSWERS = 30;

export class Api {
  readonly #answers = new Map<string, { at: number; answer: unknown }>();
  #token = '';

  constructor() {
    try {
      this.#token = sessionStorage.getItem(TOKEN) ?? '';
    } catch {
      // The browser keeps nothing for this page. The token is asked for after each reload.
    }
  }

  get hasToken(): boolean {
    return this.#token !== '';
  }

  setToken(token: string): void {
    this.#token = token;
    try {
      if (token === '') sessionStorage.removeItem(TOKEN);
      else sessionStorage.setItem(TOKEN, token);
    } catch {
      // As above.
    }
  }

  /** Forgets answers, so that all questions are asked again. */
  forget(): void {
    this.#answers.clear();
  }

  async apps(signal: AbortSignal): Promise<string[]> {
    const { apps } = await this.#get<{ apps: { name: string }[] }>('apps', {}, signal);
    return apps.map(({ name }) => name);
  }

  async values(parameters: Parameters, signal: AbortSignal): Promise<ColumnValue[]> {
    return (await this.#get<{ values: ColumnValue[] }>('values', parameters, signal)).values;
  }

  functions(parameters: Parameters, signal: AbortSignal): Promise<FunctionsAnswer> {
    return this.#get('functions', { ...parameters, top: '2000' }, signal);
  }

  flameGraph(parameters: Parameters, signal: AbortSignal): Promise<FlameGraphAnswer> {
    return this.#get('flamegraph', parameters, signal);
  }

  diff(parameters: Parameters, signal: AbortSignal): Promise<DiffAnswer> {
    return this.#get('diff', { ...parameters, top: '200' }, signal);
  }

  async #get<Answer>(question: string, parameters: Parameters, signal: AbortSignal): Promise<Answer> {
    const path = `api/v1/${question}?${new URLSearchParams(parameters)}`;
    const known = this.#answers.get(path);
    if (known !== undefined && Date.now() - known.at < MAX_AGE) return known.answer as Answer;
    const headers: Record<string, string> = this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { headers, signal }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new ApiError(0, 'The collector does not answer.');
    });
    const text = await response.text();
    if (!response.ok)
      throw new ApiError(response.status, problemOf(text) ?? `The collector answered ${response.status}.`);
    const answer = JSON.parse(text) as Answer;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size >= MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    this.#answers.set(path, { at: Date.now(), answer });
    return answer;
  }
}

/** What the collector says about a request that it did not answer. */
function problemOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
