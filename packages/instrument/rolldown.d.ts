import type plugin from './index.d.ts';

declare const of: typeof plugin.rolldown;
export default of;
export type { Options } from './index.d.ts';
