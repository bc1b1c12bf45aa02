// The questions that the collector answers. collector/collector/src/answers.rs is the other side.

import type { ProfileData } from '@selfprof/views/profile-data.ts';

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

/** Times are in milliseconds, the sums of all sessions: one for each point of the period. */
export interface SeriesAnswer {
  step: 'hour' | 'day';
  /** `time` is in milliseconds since 1970. */
  points: { time: number; profiles: number; sessions: number; busy: { time: number } }[];
  functions: (FunctionName & { selfTime: number[]; totalTime: number[] })[];
}

/** Durations are in milliseconds. Each span counts as often as its profile stands for. */
export interface SpanAnswer {
  /** As in a condition on `span`. */
  name: string;
  /** How many were recorded, and how many there were in all visits. */
  spans: number;
  times: number;
  profiles: number;
  sessions: number;
  p50: number;
  p75: number;
  p90: number;
  p95: number;
  p99: number;
  longest: number;
  /** How many are below the first limit, from it to the second, and so on. */
  distribution: number[];
}

export interface SpansAnswer {
  limits: number[];
  spans: SpanAnswer[];
}

/** Some spans of one name. Times are means of one span. */
export interface SpanGroup {
  spans: number;
  sessions: number;
  profiles: number;
  duration: number;
  busyTime: number;
  functions: FunctionName[];
  nodes: FlameGraphAnswer['nodes'];
}

/** What runs in the slowest tenth of spans, and in the others. */
export interface SlowSpansAnswer {
  span: string;
  /** A span is slow from this duration on. */
  limit: number;
  /**
   * The profiles with such spans, those that were read, and spans that were left out because a part of them is missing.
   */
  profiles: number;
  read: number;
  cut: number;
  slow: SpanGroup;
  rest: SpanGroup;
  functions: (FunctionName & Record<'slow' | 'rest', { selfTime: number; totalTime: number }>)[];
}

/** A single profile. Durations are in milliseconds. */
export interface ProfileAnswer {
  id: string;
  /** When it was received, as `2026-11-23T12:00:00Z`. */
  time: string;
  release: string;
  page: string;
  environment: string;
  browser: string;
  device: string;
  /** A hash. */
  session: string;
  samples: number;
  duration: number;
  /** In the samples of the selection. */
  busyTime: number;
}

export interface TimelineAnswer {
  profile: ProfileAnswer;
  trace: ProfileData;
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
  /**
   * The probability that two equal selections have any function with so clear a difference; null if it was not tested.
   */
  probability: number | null;
  verdict: Verdict;
}

export interface ChangeAnswer {
  name: string;
  resource: string | null;
  selfTime: TimeChange;
  totalTime: TimeChange;
}

/**
 * A release whose functions have the names of a minifier, so that they cannot be matched with those of another release.
 */
export interface MinifiedAnswer {
  release: string;
  functions: number;
  minified: number;
  hasMaps: boolean;
}

export interface SideAnswer {
  profiles: number;
  sessions: number;
  busyTime: number;
  minified: MinifiedAnswer[];
}

export interface DiffAnswer {
  base: SideAnswer;
  new: SideAnswer;
  tested: number;
  functions: ChangeAnswer[];
}

/** A regression that the collector has found. */
export interface AlertAnswer {
  id: string;
  /** In milliseconds since 1970. */
  time: number;
  base: string;
  new: string;
  name: string;
  resource: string | null;
  /** Times are means of a session on the page, in milliseconds. */
  pages: {
    page: string;
    difference: number;
    differenceInterval: [number, number] | null;
    probability: number;
  }[];
}

export interface AlertsAnswer {
  /** The newest first. */
  alerts: AlertAnswer[];
  /** New releases that cannot be compared. */
  waiting: { release: string; base: string; reason: string }[];
}

/** Sessions that have said how they are profiled, or why they cannot be. Each stands for 1 / rate. */
export interface CoverageGroup {
  /** The browser. */
  value: string;
  reports: number;
  sessions: number;
  profiled: number;
  kinds: Partial<Record<'native' | 'polyfill' | 'no-api' | 'not-allowed' | 'failed', number>>;
}

export interface CoverageAnswer {
  total: CoverageGroup;
  groups: CoverageGroup[];
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
/** The functions of a table. */
const MOST_FUNCTIONS = '2000';

export class Api {
  readonly #answers = new Map<string, { at: number; answer: unknown }>();
  readonly #base: string;
  #token = '';

  /** `base` is where the collector is, from the page. */
  constructor(base = '') {
    this.#base = base;
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

  alerts(app: string, signal: AbortSignal): Promise<AlertsAnswer> {
    return this.#get('alerts', { app }, signal);
  }

  coverage(parameters: Parameters, signal: AbortSignal): Promise<CoverageAnswer> {
    return this.#get('coverage', { ...parameters, top: '50' }, signal);
  }

  async values(parameters: Parameters, signal: AbortSignal): Promise<ColumnValue[]> {
    return (await this.#get<{ values: ColumnValue[] }>('values', parameters, signal)).values;
  }

  functions(parameters: Parameters, signal: AbortSignal): Promise<FunctionsAnswer> {
    return this.#get('functions', { ...parameters, top: MOST_FUNCTIONS }, signal);
  }

  series(parameters: Parameters, signal: AbortSignal): Promise<SeriesAnswer> {
    return this.#get('series', { ...parameters, top: MOST_FUNCTIONS }, signal);
  }

  flameGraph(parameters: Parameters, signal: AbortSignal): Promise<FlameGraphAnswer> {
    return this.#get('flamegraph', parameters, signal);
  }

  spans(parameters: Parameters, signal: AbortSignal): Promise<SpansAnswer> {
    return this.#get('spans', parameters, signal);
  }

  slowSpans(parameters: Parameters, span: string, signal: AbortSignal): Promise<SlowSpansAnswer> {
    return this.#get('spans/slow', { ...parameters, span, top: '200' }, signal);
  }

  async profiles(parameters: Parameters, order: string, signal: AbortSignal): Promise<ProfileAnswer[]> {
    const answer = await this.#get<{ profiles: ProfileAnswer[] }>('profiles', { ...parameters, order }, signal);
    return answer.profiles;
  }

  timeline(id: string, parameters: Parameters, signal: AbortSignal): Promise<TimelineAnswer> {
    return this.#get(`profiles/${encodeURIComponent(id)}/timeline`, parameters, signal);
  }

  diff(parameters: Parameters, signal: AbortSignal): Promise<DiffAnswer> {
    return this.#get('diff', { ...parameters, top: '200' }, signal);
  }

  async #get<Answer>(question: string, parameters: Parameters, signal: AbortSignal): Promise<Answer> {
    const path = `${this.#base}api/v1/${question}?${new URLSearchParams(parameters)}`;
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
