// The examples of the four documents, as programs would have them.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { suite, test } from 'node:test';
import vm from 'node:vm';

import { createTiming } from 'selfprof/timing';

import { spin } from '../spin.mjs';

/** Runs a page's scripts where `performance` and its interfaces are global; gives what they wrote to the console. */
function runPage(options, script, more = {}) {
  const lines = [];
  const log = (...values) => lines.push(values.join(' '));
  const timing = createTiming(options);
  const page = vm.createContext({ ...timing, ...more, spin, console: { log, table: log }, setTimeout, Promise });
  page.window = page;
  vm.runInContext(script, page);
  return { lines, page, timing };
}

/** Lets the page's tasks run until something is so. */
async function until(isSo) {
  for (const patience = Date.now() + 20_000; !isSo() && Date.now() < patience; ) await delay(1);
}

suite('High Resolution Time', () => {
  test('a task is timed in a page and in its worker, on one timeline', () => {
    // A worker begins later than its page, with a time origin of its own.
    const pageOrigin = Date.now() - 5000;
    const worker = runPage(
      { timeOrigin: pageOrigin + 2000 },
      `
      const taskStart = performance.now();
      spin(5);
      const taskEnd = performance.now();
      var message = {
        task: 'Some worker task',
        startTime: taskStart + performance.timeOrigin,
        endTime: taskEnd + performance.timeOrigin,
      };
      `,
    );
    const { page } = runPage(
      { timeOrigin: pageOrigin },
      `
      var now = performance.now();
      var translated = {
        startTime: message.startTime - performance.timeOrigin,
        endTime: message.endTime - performance.timeOrigin,
      };
      `,
      { message: worker.page.message },
    );
    const { startTime, endTime } = page.translated;
    assert.ok(endTime - startTime >= 4 && endTime - startTime < 1000, `${endTime - startTime}`);
    assert.ok(startTime > 4000 && endTime <= page.now + 1, `${startTime} ${endTime} ${page.now}`);
  });

  test('a duration by Date may be anything, one by now() is what passed', () => {
    const { page } = runPage(
      {},
      `
      const markStart = performance.now();
      spin(3);
      var duration = performance.now() - markStart;
      `,
    );
    assert.ok(page.duration >= 2.9 && page.duration < 1000, `${page.duration}`);
  });
});

suite('Performance Timeline', () => {
  test('a page writes its entries down as JSON', () => {
    const { lines } = runPage(
      { window: true },
      `
      function init() {
        performance.mark('startWork');
        spin(1);
        performance.mark('endWork');
        measurePerf();
      }
      function measurePerf() {
        performance.getEntries().map((entry) => JSON.stringify(entry)).forEach((json) => console.log(json));
      }
      init();
      `,
    );
    const entries = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      entries.map(({ name, entryType, duration }) => [name, entryType, duration]),
      [
        ['startWork', 'mark', 0],
        ['endWork', 'mark', 0],
      ],
    );
    assert.ok(entries[1].startTime > entries[0].startTime);
  });

  test('an observer delivers new entries to a page once', async () => {
    const { lines } = runPage(
      { timeOrigin: Date.now() - 1000 },
      `
      function unsupported(entryTypes) {
        return entryTypes.filter((entryType) => !PerformanceObserver.supportedEntryTypes.includes(entryType));
      }
      console.log('not supported: ' + unsupported(['element', 'mark', 'measure']));
      const userTimingObserver = new PerformanceObserver((list) => {
        list
          .getEntries()
          .map(({ name, entryType, startTime, duration }) => [entryType, name, duration >= 0 && startTime >= 0].join(' '))
          .forEach((line) => console.log(line));
        userTimingObserver.disconnect();
        performance.mark('too late');
        setTimeout(() => console.log('end'), 5);
      });
      userTimingObserver.observe({ entryTypes: ['mark', 'measure'] });
      performance.mark('a');
      performance.measure('b', 'a');
      `,
    );
    await until(() => lines.includes('end'));
    assert.deepEqual(lines, ['not supported: element', 'mark a true', 'measure b true', 'end']);
  });

  test('a page gets entries that were buffered before it observed', async () => {
    const { lines } = runPage(
      {},
      `
      performance.mark('before');
      const observer = new PerformanceObserver((list, _, { droppedEntriesCount }) => {
        console.log(list.getEntries().map(({ name }) => name) + ', ' + droppedEntriesCount + ' dropped');
        observer.disconnect();
      });
      observer.observe({ type: 'mark', buffered: true });
      `,
    );
    await until(() => lines.length > 0);
    assert.deepEqual(lines, ['before, 0 dropped']);
  });
});

suite('User Timing', () => {
  test('tasks that wait are marked and shown in a table', async () => {
    const { lines } = runPage(
      {},
      `
      const doTask = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      async function run() {
        performance.mark('startTask1');
        await doTask(3);
        performance.mark('endTask1');
        performance.mark('startTask2');
        await doTask(3);
        performance.mark('endTask2');
        for (const entry of performance.getEntriesByType('mark')) {
          const { name, entryType, duration } = entry.toJSON();
          console.table(name, entryType, duration);
        }
      }
      run();
      `,
    );
    await until(() => lines.length === 4);
    assert.deepEqual(lines, ['startTask1 mark 0', 'endTask1 mark 0', 'startTask2 mark 0', 'endTask2 mark 0']);
  });

  test('an update is measured from the event that caused it', async () => {
    const { page } = runPage(
      { timeOrigin: Date.now() - 1000 },
      `
      const component = { name: 'news', url: '/news' };
      function onClick(event) {
        Promise.resolve().then(() => {
          const updateMark = performance.mark('update_component', { detail: { component: component.name } });
          performance.measure('click_to_update_component', {
            detail: { component: component.name },
            start: event.timeStamp,
            end: updateMark.startTime,
          });
        });
      }
      var timeStamp = performance.now();
      spin(2);
      onClick({ timeStamp });
      `,
    );
    await until(() => page.performance.getEntriesByType('measure').length > 0);
    const [measure] = page.performance.getEntriesByType('measure');
    const [mark] = page.performance.getEntriesByName('update_component');
    assert.deepEqual([measure.startTime, measure.duration], [page.timeStamp, mark.startTime - page.timeStamp]);
    assert.deepEqual([measure.detail.component, mark.detail.component], ['news', 'news']);
  });

  test('recommended marks', async () => {
    const { page } = runPage(
      { window: true },
      `
      Promise.all([1, 2, 3].map((ms) => new Promise((resolve) => setTimeout(resolve, ms)))).then(() => {
        performance.mark('mark_fully_loaded');
      });
      performance.mark('mark_feature_usage', { detail: { feature: 'ImageComponent', framework: 'Framework' } });
      `,
    );
    await until(() => page.performance.getEntriesByName('mark_fully_loaded').length > 0);
    assert.deepEqual(
      page.performance.getEntriesByType('mark').map(({ name }) => name),
      ['mark_feature_usage', 'mark_fully_loaded'],
    );
    assert.equal(page.performance.getEntriesByName('mark_feature_usage')[0].detail.framework, 'Framework');
  });
});

suite('User Timing, Working Draft of 8 May 2012', () => {
  test('a page measures four tasks between its marks, and then reads all measures', () => {
    const { page, lines } = runPage(
      { timing: { navigationStart: Date.now() - 3000, responseEnd: Date.now() - 2000 }, timeOrigin: Date.now() - 3000 },
      `
      function doTask1() { spin(2); }
      function doTask2() { spin(4); }
      function doTask3() { spin(6); }
      function doTask4() { spin(8); }

      function init() {
        window.performance.mark('startTask1');
        doTask1();
        window.performance.mark('endTask1');
        window.performance.mark('startTask2');
        doTask2();
        window.performance.mark('endTask2');
        // The third and the fourth task share the names of their marks: the latest counts.
        window.performance.mark('start');
        doTask3();
        window.performance.mark('end');
        window.performance.measure('task3', 'start', 'end');
        window.performance.mark('start');
        doTask4();
        window.performance.mark('end');
        window.performance.measure('task4', 'start', 'end');
        measurePerf();
      }

      function measurePerf() {
        performance.measure('task1', 'startTask1', 'endTask1');
        performance.measure('task2', 'startTask2', 'endTask2');
        performance.measure('task', 'startTask1', 'endTask1');
        performance.measure('task', 'startTask2', 'endTask2');
        performance.measure('sinceResponse', 'responseEnd');
        performance.measure('sinceNavigation');
        var measures = performance.getMeasures();
        for (var name in measures) {
          for (var i = 0; i < measures[name].length; i++) {
            console.log(name + ' ' + (measures[name][i] > 0));
          }
        }
        window.marks = performance.getMarks();
        window.measures = measures;
        performance.clearMarks();
        performance.clearMeasures();
      }

      init();
      `,
    );
    assert.deepEqual(lines, [
      ...['task3 true', 'task4 true', 'task1 true', 'task2 true', 'task true', 'task true'],
      ...['sinceResponse true', 'sinceNavigation true'],
    ]);
    const { marks, measures } = page;
    assert.deepEqual(Object.keys(marks), ['startTask1', 'endTask1', 'startTask2', 'endTask2', 'start', 'end']);
    assert.deepEqual(measures.task1, [marks.endTask1[0] - marks.startTask1[0]]);
    assert.deepEqual(measures.task, [measures.task1[0], measures.task2[0]]);
    assert.deepEqual(measures.task3, [marks.end[0] - marks.start[0]]);
    assert.deepEqual(measures.task4, [marks.end[1] - marks.start[1]]);
    assert.ok(measures.sinceNavigation[0] - measures.sinceResponse[0] >= 999, JSON.stringify(measures));
    assert.deepEqual([page.performance.getMarks(), page.performance.getMeasures('task')], [{}, []]);
  });
});
