// Shows the page.

import { CollectorPage } from './collector-page.ts';

new CollectorPage(document.getElementById('app') ?? document.body);
