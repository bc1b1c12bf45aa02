// Stands for testdriver-vendor.js: what a page without a window on a screen can be told to do. The rest of testdriver.js rejects,
// as it does everywhere where a function is not supplied.

(() => {
  const key = Symbol.for('selfprof.wpt');
  if (globalThis[key] === undefined) Object.defineProperty(globalThis, key, { value: { messages: [], wake: undefined, answers: new Map() } });
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
        document.cookie = `${cookie.split('=')[0]}=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT`;
      }
      return Promise.resolve();
    },
  });
})();
