// What the page shows. The URL says the same, so that a link restores it.

export const VIEWS = ['functions', 'flamegraph', 'callers', 'spans', 'profiles', 'compare'] as const;
export type View = (typeof VIEWS)[number];

/** The columns of profiles and samples that have a drop-down list. */
export const COLUMNS = ['release', 'page', 'browser', 'device', 'environment', 'span'] as const;
export type Column = (typeof COLUMNS)[number];

/** Which profiles come first. */
export const ORDERS = ['newest', 'longest', 'median'] as const;
export type Order = (typeof ORDERS)[number];

export interface Query {
  view: View;
  /** Empty for the first one. */
  app: string;
  /** A period such as `-7d`, or a day such as `2026-11-20`. */
  from: string;
  /** The last day; empty for now. */
  to: string;
  /** The value that is asked for, by column; all values if there is none. */
  values: Partial<Record<Column, string>>;
  /** A further condition. */
  where: string;
  /**
   * The conditions of the two sides of a comparison. Empty for the release before the newest one, and the newest one.
   */
  base: string;
  new: string;
  order: Order;
  search: string;
  /** Name and location of the selected function; empty for none. */
  selected: string;
}

export const DEFAULT_FROM = '-7d';
/** The collector refuses longer filters. */
const MAX_LENGTH = 4_096;

export function readQuery(search: string): Query {
  const parts = new URLSearchParams(search);
  const text = (name: string): string => (parts.get(name) ?? '').slice(0, MAX_LENGTH);
  const values: Query['values'] = {};
  for (const column of COLUMNS) if (parts.has(column)) values[column] = text(column);
  return {
    view: VIEWS.find((view) => view === parts.get('view')) ?? 'functions',
    app: text('app'),
    from: text('from') || DEFAULT_FROM,
    to: text('to'),
    values,
    where: text('where'),
    base: text('base'),
    new: text('new'),
    order: ORDERS.find((order) => order === parts.get('order')) ?? 'newest',
    search: text('search'),
    selected: text('function'),
  };
}

/** The query part of the URL, with `?`. */
export function linkOf(query: Query): string {
  const parts = new URLSearchParams();
  const set = (name: string, value: string): void => {
    if (value !== '') parts.set(name, value);
  };
  if (query.view !== 'functions') parts.set('view', query.view);
  set('app', query.app);
  if (query.from !== DEFAULT_FROM) set('from', query.from);
  set('to', query.to);
  for (const column of COLUMNS) {
    const value = query.values[column];
    // An empty value is one, too: profiles may have no release.
    if (value !== undefined) parts.set(column, value);
  }
  for (const name of ['where', 'base', 'new', 'search'] as const) set(name, query[name]);
  if (query.order !== 'newest') parts.set('order', query.order);
  set('function', query.selected);
  return `?${parts}`;
}

/** A condition on a column, as the collector reads it. */
export function condition(column: string, value: string): string {
  return `${column} = '${value.replaceAll("'", "''")}'`;
}

/** The release in a condition of one release only. */
export function releaseIn(text: string): string | undefined {
  const [, quoted] = /^\s*release\s*=\s*'((?:[^']|'')*)'\s*$/i.exec(text) ?? [];
  return quoted?.replaceAll("''", "'");
}

/** The column that a view chooses values of by itself, so that they are not a filter. */
export const OWN_COLUMN: Partial<Record<View, Column>> = { compare: 'release', spans: 'span' };

/** All conditions of a query together. */
export function filterOf({ view, values, where }: Query): string {
  const conditions = COLUMNS.filter((column) => column !== OWN_COLUMN[view]).flatMap((column) => {
    const value = values[column];
    return value === undefined ? [] : [condition(column, value)];
  });
  if (conditions.length === 0) return where;
  if (where.trim() !== '') conditions.push(`(${where})`);
  return conditions.join(' and ');
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/** The application and the period, as the collector's API names them. */
export function periodOf({ app, from, to }: Query): Record<string, string> {
  if (!isDay(to)) return { app, from, ...(to === '' ? {} : { to }) };
  // The API leaves out the end of the period.
  const end = new Date(`${to}T00:00:00Z`);
  if (Number.isNaN(end.getTime())) return { app, from, to };
  end.setUTCDate(end.getUTCDate() + 1);
  return { app, from, to: end.toISOString().slice(0, 10) };
}

/** The application, the period and the filter. */
export function parametersOf(query: Query): Record<string, string> {
  const where = filterOf(query);
  return { ...periodOf(query), ...(where.trim() === '' ? {} : { where }) };
}
