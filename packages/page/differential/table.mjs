// The tables of known differences: those that are intended, and those that are faults of the page host.

import fs from 'node:fs';
import path from 'node:path';

/**
 * `node` is the only Node major that the difference is seen on; all by default.
 *
 * @typedef {{ probe: string, variants: string, chromium: string, host: string, node?: string }} Difference
 */
/** @typedef {{ why: string, observed: string, differences: Difference[] }} Reason */

const NAMES = ['intended', 'not-yet'];

/** A new difference, until somebody says why. */
const UNEXPLAINED = 'not explained yet';

const fileOf = (name) => path.join(import.meta.dirname, `${name}.json`);

/** @returns {Map<string, Reason[]>} */
export function readTables() {
  return new Map(NAMES.map((name) => [name, JSON.parse(fs.readFileSync(fileOf(name), 'utf8'))]));
}

/** Whether a difference is of another Node than this one. @param {Difference} difference */
const isElsewhere = ({ node }) => node !== undefined && node !== process.versions.node.split('.')[0];

const keyOf = ({ probe, variant }) => `${variant} ${probe}`;

/** The differences of all tables, one for each probe and variant. */
function known(tables) {
  const all = new Map();
  for (const reasons of tables.values()) {
    for (const { differences } of reasons) {
      for (const { variants, ...rest } of differences.filter((difference) => !isElsewhere(difference))) {
        for (const variant of variants.split(' ')) {
          const key = keyOf({ ...rest, variant });
          if (all.has(key)) throw new Error(`two entries of the tables are about ${rest.probe} (${variant})`);
          all.set(key, { ...rest, variant });
        }
      }
    }
  }
  return all;
}

/**
 * Compares what was seen with the tables.
 *
 * @param {ReturnType<typeof readTables>} tables
 * @param {{ probe: string, variant: string, chromium: string, host: string }[]} results of all probes that ran
 * @param {boolean} isComplete whether all probes ran
 * @returns {{ kind: 'new' | 'changed' | 'gone', probe: string, variant: string, chromium: string, host: string,
 *   expected?: { chromium: string, host: string } }[]}
 */
export function compare(tables, results, isComplete) {
  const expected = known(tables);
  const problems = [];
  for (const result of results) {
    const entry = expected.get(keyOf(result));
    expected.delete(keyOf(result));
    const differs = result.chromium !== result.host;
    if (entry === undefined) {
      if (differs) problems.push({ kind: 'new', ...result });
    } else if (!differs) problems.push({ kind: 'gone', ...result, expected: entry });
    else if (entry.chromium !== result.chromium || entry.host !== result.host)
      problems.push({ kind: 'changed', ...result, expected: entry });
  }
  // An entry about a probe that does not exist.
  if (isComplete) for (const entry of expected.values()) problems.push({ kind: 'gone', ...entry, expected: entry });
  return problems;
}

/**
 * Writes what was seen into the tables. Each difference stays under its reason; new ones get none.
 *
 * @param {ReturnType<typeof readTables>} tables
 * @param {Parameters<typeof compare>[1]} results
 * @param {string} observed the version of Chromium
 */
export function update(tables, results, observed) {
  const reasons = new Map();
  for (const [table, list] of tables) {
    for (const reason of list) {
      for (const { probe, variants } of reason.differences)
        for (const variant of variants.split(' ')) reasons.set(keyOf({ probe, variant }), reason);
      reason.differences = reason.differences.filter(isElsewhere);
    }
    if (table === 'not-yet' && !list.some(({ why }) => why === UNEXPLAINED))
      list.push({ why: UNEXPLAINED, observed, differences: [] });
  }
  const unexplained = tables.get('not-yet').find(({ why }) => why === UNEXPLAINED);
  for (const { probe, variant, chromium, host } of results.filter((result) => result.chromium !== result.host)) {
    const reason = reasons.get(keyOf({ probe, variant })) ?? unexplained;
    reason.observed = observed;
    const same = reason.differences.find(
      (other) => other.probe === probe && other.chromium === chromium && other.host === host,
    );
    if (same === undefined) reason.differences.push({ probe, variants: variant, chromium, host });
    else same.variants += ` ${variant}`;
  }
  for (const [table, list] of tables) {
    const kept = list.filter(({ differences }) => differences.length > 0);
    fs.writeFileSync(fileOf(table), `${JSON.stringify(kept, null, 2)}\n`);
  }
}
