// Collects garbage, in a Node that was not asked for `gc` when it was started.

import v8 from 'node:v8';
import vm from 'node:vm';

v8.setFlagsFromString('--expose-gc');

/** A full collection, now. What the current job has looked at through a WeakRef survives it. */
export const collect = vm.runInNewContext('gc');
