// The page of a single profile: the timeline of the report, with a profile that the collector has.

import './profile-page.css';

import { element } from '@selfprof/views/dom.ts';
import { Profile } from '@selfprof/views/profile.ts';
import { keepLink } from 'selfprof-report/link.ts';
import { ReportPage } from 'selfprof-report/report-page.ts';
import { State } from 'selfprof-report/state.ts';

import { Api, ApiError } from './api.ts';
import { formatTime } from './profiles-view.ts';
import { failure, tokenForm } from './states.ts';

const api = new Api('../');
const container = document.getElementById('app') ?? document.body;

/** To the other profiles of the application. */
function backLink(): HTMLElement {
  const app = new URLSearchParams(location.search).get('app') ?? '';
  return element('a', { class: 'back', href: `../?${new URLSearchParams({ view: 'profiles', app })}` }, '← Profiles');
}

async function show(): Promise<void> {
  const id = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
  const parameters = Object.fromEntries(new URLSearchParams(location.search));
  const { profile, trace } = await api.timeline(id, parameters, new AbortController().signal);
  const facts = [profile.page, profile.release, profile.browser, profile.device, formatTime(profile.time)];
  const name = facts.filter(Boolean).join(' · ');
  const state = new State([Profile.of({ ...trace, name })]);
  document.title = `${name} – selfprof collector`;
  const report = new ReportPage(container, state, {
    generator: 'selfprof-collector',
    comparison: null,
    back: backLink(),
  });
  keepLink(state, report.views);
  // For tests.
  Object.assign(globalThis, { selfprofReport: { state, report } });
  performance.mark('selfprof-shown');
}

function load(): void {
  show().catch((error: unknown) => {
    const needsToken = error instanceof ApiError && error.status === 401;
    const state = needsToken
      ? tokenForm(api.hasToken, (token) => {
          api.setToken(token);
          load();
        })
      : failure(error, load, undefined);
    state.prepend(element('p', {}, backLink()));
    container.replaceChildren(element('div', { class: 'views failed' }, state));
  });
}

load();
