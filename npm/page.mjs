// `import { PageHost } from 'selfprof/page'`: see page.cjs.

import page from './page.cjs';

export const { PageHost, PageError, TimeoutError } = page;
