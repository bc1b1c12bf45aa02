// Replaces testdriver-vendor.js: the commands that work in a page without a screen. As in every browser, the other
// functions of testdriver.js reject.

(() => {
  const key = Symbol.for('selfprof.wpt');
  if (globalThis[key] === undefined)
    Object.defineProperty(globalThis, key, { value: { messages: [], wake: undefined, answers: new Map() } });
  const mailbox = globalThis[key];
  let next = 1;

  /** Asks the runner. */
  function ask(action, ...parameters) {
    const id = next++;
    const answered = new Promise((resolve, reject) => mailbox.answers.set(id, { resolve, reject }));
    mailbox.messages.push({ type: 'action', id, action, parameters });
    mailbox.wake?.();
    return answered;
  }

  const rectangle = { x: 0, y: 0, width: innerWidth, height: innerHeight };
  Object.assign(test_driver_internal, {
    in_automation: true,
    async minimize_window() {
      await ask('setVisible', false);
      return rectangle;
    },
    async set_window_rect() {
      await ask('setVisible', true);
    },
    get_window_rect: async () => rectangle,
    async click(element) {
      element.click();
    },
    delete_all_cookies() {
      for (const cookie of document.cookie.split('; ')) {
        // biome-ignore lint/suspicious/noDocumentCookie: the page must run without the Cookie Store API
        document.cookie = `${cookie.split('=')[0]}=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT`;
      }
      return Promise.resolve();
    },
  });
})();
