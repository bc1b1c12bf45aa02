// `import { PageHost } from '@selfprof/page'`

import page from './index.cjs';

export const { PageHost, PageError, TimeoutError } = page;
