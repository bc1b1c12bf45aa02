// Which package a script belongs to.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { packageOf } from '../src/packages.ts';

it('finds the package of a script', () => {
  const check = (resource, expected) => assert.equal(packageOf(resource), expected, resource);
  check('/app/src/main.js', undefined);
  check('file:///app/node_modules/react/index.js', 'react');
  check('/app/node_modules/@babel/core/lib/index.js', '@babel/core');
  check('file:///app/node_modules/%40babel/core/lib/index.js', '@babel/core');
  check('/app/node_modules/a/node_modules/@b/c/x.js', '@b/c');
  check('/app/node_modules/.pnpm/vite@5.0.0_x@1/node_modules/vite/dist/a.js', 'vite');
  check('/app/node_modules/.pnpm/@b+c@1.2.3/node_modules/@b/c/x.js', '@b/c');
  check('C:\\app\\node_modules\\react\\index.js', 'react');
  check('node_modules/react/index.js', 'react');
  check('webpack://app/./node_modules/react/index.js?4f2a', 'react');
  check('node:internal/modules/cjs/loader', 'Node.js');
  check('node:fs', 'Node.js');
  // Not in the folder itself.
  check('/app/my_node_modules/react/index.js', undefined);
  check('/app/node_modules/', undefined);
  check('/app/node_modules//x', undefined);
  check('/app/node_modules/@b', '@b');
  check('/app/node_modules/__proto__/x.js', '__proto__');
  check('', undefined);
});
