import type plugin from './index.d.ts';

declare const of: typeof plugin.rspack;
export default of;
export type { Options } from './index.d.ts';
