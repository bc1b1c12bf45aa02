// Replaces testharnessreport.js: reports the results of testharness.js to the runner, one by one. The server replaces
// the variable in the last line by a number.

((timeoutMultiplier) => {
  const STATUSES = ['PASS', 'FAIL', 'TIMEOUT', 'NOTRUN', 'PRECONDITION_FAILED'];
  const HARNESS_STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'PRECONDITION_FAILED'];
  const { push } = Array.prototype;
  const key = Symbol.for('selfprof.wpt');
  if (globalThis[key] === undefined)
    Object.defineProperty(globalThis, key, { value: { messages: [], wake: undefined, answers: new Map() } });
  const mailbox = globalThis[key];

  const say = (message) => {
    push.call(mailbox.messages, message);
    mailbox.wake?.();
  };

  setup({ output: false, timeout_multiplier: timeoutMultiplier });
  const describe = ({ name, status, message }) => ({
    name,
    status: STATUSES[status] ?? 'FAIL',
    message: message ?? null,
  });
  add_result_callback((test) => say({ type: 'subtest', ...describe(test) }));
  // The results of tests that did not end come last.
  add_completion_callback((tests, { status, message }) => {
    say({
      type: 'complete',
      subtests: tests.map(describe),
      status: HARNESS_STATUSES[status] ?? 'ERROR',
      message: message ?? null,
    });
  });
})(TIMEOUT_MULTIPLIER);
