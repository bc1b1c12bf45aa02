// Messages in place of a view, when there are no profiles or a request has failed. Each says what to do next.

import './states.css';

import { element } from '@selfprof/views/dom.ts';

import { ApiError } from './api.ts';

/** What a page needs to send its first profile to the collector at `url`. */
export function firstScript(url: string, hasKeys: boolean): string {
  const address = `${url}v1/profiles${hasKeys ? '?key=KEY' : ''}`;
  return `const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 6000 });
setTimeout(async () => {
  const trace = await profiler.stop();
  sessionStorage.session ??= crypto.randomUUID();
  const body = JSON.stringify({
    app: 'my-app', release: '1.0', page: location.pathname,
    session: sessionStorage.session, trace,
  });
  const url = '${address}';
  fetch(url, { method: 'POST', body });
}, 5000);`;
}

function button(title: string, click: () => void): HTMLElement {
  return element('button', { type: 'button', class: 'button', click }, title);
}

/** No profile was ever sent. */
export function noProfiles(url: string, hasKeys: boolean): HTMLElement {
  const script = firstScript(url, hasKeys);
  const copy = button('Copy', () => {
    navigator.clipboard?.writeText(script).then(
      () => copy.replaceChildren('Copied'),
      () => copy.replaceChildren('Select the text, and copy it'),
    );
  });
  const code = element('pre', { tabindex: '0', 'aria-label': 'The script' }, script);
  const key = 'Replace KEY by a key of the application in the settings of the collector.';
  return element(
    'section',
    { class: 'state' },
    element('h2', {}, 'No profiles yet'),
    element('p', {}, 'The collector runs, and waits for the first profile. Three steps:'),
    element(
      'ol',
      {},
      element(
        'li',
        {},
        'Let the server of your page send the header ',
        element('code', {}, 'Document-Policy: js-profiling'),
        ' with its HTML. Chromium browsers can profile such pages.',
      ),
      element(
        'li',
        {},
        `Add this script to the page. ${hasKeys ? key : ''}`,
        element('div', { class: 'script' }, code, copy),
      ),
      element('li', {}, 'Open the page for some seconds. Its profile appears here soon after it was sent.'),
    ),
    element(
      'p',
      { class: 'method' },
      'Files can be added too, while the collector is stopped: ',
      element('code', {}, 'selfprof-collector import --app my-app trace.cpuprofile'),
    ),
  );
}

/** There are profiles, but none that were asked for. */
export function noMatch(actions: { clear?: () => void; widen?: () => void }): HTMLElement {
  const { clear, widen } = actions;
  return element(
    'section',
    { class: 'state' },
    element('h2', {}, 'No profiles match'),
    element(
      'p',
      {},
      clear === undefined
        ? 'The application has no profiles in this period.'
        : 'No profile in this period meets all filters.',
    ),
    element(
      'p',
      { class: 'actions' },
      ...(clear === undefined ? [] : [button('Clear filters', clear)]),
      ...(widen === undefined ? [] : [button('Last 90 days', widen)]),
    ),
  );
}

export function noApp(name: string, apps: readonly string[], choose: (app: string) => void): HTMLElement {
  return element(
    'section',
    { class: 'state' },
    element('h2', {}, 'No such application'),
    element('p', {}, `The collector has no profiles of “${name}”. It has profiles of:`),
    element('p', { class: 'actions' }, ...apps.map((app) => button(app, () => choose(app)))),
  );
}

/** Asks for the token. It stays in this tab. */
export function tokenForm(isWrong: boolean, onToken: (token: string) => void): HTMLElement {
  const input = element('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': 'Token' });
  const submit = (event: Event): void => {
    event.preventDefault();
    if (input.value.trim() !== '') onToken(input.value.trim());
  };
  const form = element(
    'form',
    { class: 'actions', submit },
    input,
    element('button', { type: 'submit', class: 'button' }, 'Continue'),
  );
  queueMicrotask(() => input.focus());
  return element(
    'section',
    { class: 'state' },
    element('h2', {}, 'This collector needs a token'),
    element(
      'p',
      { class: isWrong ? 'error' : undefined, role: isWrong ? 'alert' : undefined },
      isWrong ? 'The collector does not know this token.' : 'It is one of the tokens in the settings of the collector.',
    ),
    form,
    element('p', { class: 'method' }, 'The token stays in this tab, until it is closed.'),
  );
}

/** What went wrong, and what to do. */
export function failure(error: unknown, retry: () => void, clear: (() => void) | undefined): HTMLElement {
  const status = error instanceof ApiError ? error.status : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const advice: Record<number, string> = {
    0: 'Is it running? It is started by `selfprof-collector serve`.',
    400: 'Change or clear the filters above.',
    403: 'Open the page by the address that `selfprof-collector serve` prints.',
    500: 'The messages of the collector say more.',
  };
  const offersClear = status === 400 && clear !== undefined;
  return element(
    'section',
    { class: 'state', role: 'alert' },
    element('h2', {}, status === 400 ? 'The question cannot be answered' : 'That did not work'),
    element('p', { class: 'error' }, message),
    element('p', {}, advice[status ?? -1] ?? ''),
    element(
      'p',
      { class: 'actions' },
      ...(offersClear ? [button('Clear filters', clear)] : []),
      button('Try again', retry),
    ),
  );
}
