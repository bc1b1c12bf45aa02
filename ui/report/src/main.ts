// Reads the traces in the page and shows them.

import { element } from '@selfprof/views/dom.ts';
import { Profile } from '@selfprof/views/profile.ts';

import { readEmbedded } from './embedded.ts';
import { keepLink } from './link.ts';
import { ReportPage } from './report-page.ts';
import { State } from './state.ts';

async function showReport(container: Element): Promise<void> {
  const data = document.getElementById('selfprof-traces');
  if (data === null)
    throw new Error('the page contains no traces; `selfprof report TRACE -o report.html` writes a page with traces');
  const embedded = await readEmbedded(data.textContent ?? '');
  if (embedded.traces.length === 0) throw new Error('the page contains no traces');
  const state = new State(embedded.traces.map((trace) => Profile.of(trace)));
  document.title = `${state.profiles.map(({ name }) => name).join(', ')} – selfprof`;
  const report = new ReportPage(container, state, embedded);
  keepLink(state, report.views);
  // For tests and benchmarks.
  Object.assign(globalThis, { selfprofReport: { state, report } });
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('selfprof-interactive')));
}

const container = document.getElementById('app') ?? document.body;
showReport(container).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  container.replaceChildren(element('p', { class: 'hint error', role: 'alert' }, `Cannot show the report: ${reason}`));
});
