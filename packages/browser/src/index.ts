// The agent: profiles a page in its users' browsers, and sends the profiles to a collector.

import type { Agent, Options, WebVitals } from '../index.d.ts';
import { scope } from './scope.ts';
import { run } from './visit.ts';

/**
 * Has `selfprof instrument` leave the function out that contains the agent in a bundle: crates/instrument/src/walk.rs.
 */
export const checks = 'selfprof: leave alone';

/** See index.d.ts. */
export function init(options: Options): Agent {
  const vitals: WebVitals[] = [];
  let running: Agent | undefined;
  const start = () => {
    try {
      running = run(options);
      for (const one of vitals) running?.addVitals(one);
    } catch {
      // A page must work without its profiler.
    }
  };
  // Most pages that are rendered in advance are never shown.
  if (scope.document?.prerendering) document.addEventListener('prerenderingchange', start, { once: true });
  else start();
  return {
    get session() {
      return running?.session;
    },
    flush: () => running?.flush(),
    stop: () => running?.stop(),
    addVitals: (one) => (running ? running.addVitals(one) : vitals.push(one)),
  };
}
