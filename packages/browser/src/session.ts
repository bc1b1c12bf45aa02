// Which sessions are profiled.

import type { Options } from '../index.d.ts';
import { load, randomId, save } from './scope.ts';

export interface Session {
  id: string;
  /** The probability with which it was chosen. 0 if it was not. */
  rate: number;
  /** The kinds of coverage that the collector was told. */
  told: string[];
}

/** The session of this tab. Whether it is profiled is decided once, even if it is decided again with another rate. */
export function sessionOf({ app, session, sampleRate = 1 }: Options): Session {
  if (session) return { id: session, rate: sampleRate, told: [] };
  const name = `selfprof.${app}`;
  const kept = load(name) as Session | null;
  if (kept?.id && kept.told) return kept;
  const chosen = { id: randomId(), rate: Math.random() < sampleRate ? sampleRate : 0, told: [] };
  save(name, chosen);
  return chosen;
}

/** Whether the collector has not been told this yet. It counts as told from now on. */
export function isNews(session: Session, app: string, coverage: string): boolean {
  if (session.told.includes(coverage)) return false;
  session.told.push(coverage);
  save(`selfprof.${app}`, session);
  return true;
}
