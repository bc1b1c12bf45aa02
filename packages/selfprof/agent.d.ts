/** Continuous profiles from production: https://github.com/selfprof/selfprof/blob/main/docs/agents.md */

/** Options of the agent. Environment variables such as `SELFPROF_AGENT_OUT` override them. */
export interface AgentOptions {
  /**
   * Where profiles go: the URL of a collector, Pyroscope or an OTLP endpoint, or the path of a folder.
   * `./selfprof-profiles` by default.
   */
  out?: string;
  /** What is at the URL, if its path does not tell. */
  format?: 'collector' | 'folder' | 'pyroscope' | 'otlp';
  /** The application. By default, `OTEL_SERVICE_NAME` or the name in package.json. */
  app?: string;
  /** The version of the application; by default the one in package.json. */
  release?: string;
  /** Such as `production`; by default `NODE_ENV`. */
  environment?: string;
  /** The collector's ingest key. */
  key?: string;
  /** More headers of the requests that send profiles. */
  headers?: Record<string, string>;
  /** How many seconds of profile are sent at a time; 60 by default. */
  period?: number;
  /** The sample interval in milliseconds; 10 by default. */
  interval?: number;
  /** A folder that keeps what could not be sent, also beyond the end of the process. */
  spool?: string;
  /** Whether samples get labels. By default, they do if that costs nothing: on Node 24 and newer. */
  labels?: boolean;
  /**
   * Whether child processes are recorded, too; true by default. Those that are started with `--import selfprof/agent`
   * themselves, as by `fork` and `cluster`, which pass Node's options on, and by `NODE_OPTIONS`, are recorded in any
   * case, with an exporter each.
   */
  children?: boolean;
}

/**
 * Starts the agent of this process, unless it has started: records all threads and child processes, and sends what they
 * record. `node --import selfprof/agent` calls it.
 *
 * @returns whether the process is recorded
 * @throws TypeError if an option is wrong
 */
export function startAgent(options?: AgentOptions): boolean;

/**
 * Calls a function. Samples of it and of what it starts, also later, have these labels beside those that they have
 * already. A label with the value `undefined` is removed. Sets have at most 32 labels, and names and values at most 256
 * characters.
 */
export function withLabels<A extends unknown[], R>(
  labels: Record<string, unknown>,
  fn: (...args: A) => R,
  ...args: A
): R;

/**
 * Samples of the rest of this async context, and of what it starts, have these labels beside those that they have
 * already.
 */
export function setLabels(labels: Record<string, unknown>): void;

/**
 * Keeps apart what runs in requests that take at least this many milliseconds: their samples get the label `request`,
 * and the trace a measure for each. Call it once, before the first request. It costs no profiler of its own.
 *
 * @throws TypeError if it is not a number of milliseconds
 */
export function profileRequest(milliseconds: number): void;

/** Middleware for Hono that makes the route of each request a label: `app.use(honoRoutes)`. */
export function honoRoutes(context: unknown, next: () => Promise<void>): Promise<void>;
