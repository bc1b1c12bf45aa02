// What a page thread is started with, and what it knows about its documents.

import type { MessagePort } from 'node:worker_threads';

import type { PackedModules } from '../fetch/packed-modules.cjs';
import type { PageDocument } from './thread-messages.js';
import type { Cookies } from '../fetch/cookies.cjs';

export type Credentials = 'omit' | 'same-origin' | 'include';

/** What a window shows: a document, or the empty one, of which nothing but the URL is known. */
export type ShownDocument = Partial<PageDocument> & { url: string };

/** `workerData` of a page thread. */
export interface ThreadData {
  /** To and from the user's thread. */
  control: MessagePort;
  /** From the user's thread, with messages for the DOM realm. */
  port: MessagePort;
  /**
   * What both threads count: how many kilobytes the user's thread has not read yet of what a page can send without limit; the same of shared
   * memory; how many messages the main realm has sent, as a 32-bit integer that wraps around; how many kilobytes the DOM realm has not
   * read yet; and 1 while the user's thread has been told of messages and has not looked, else 0.
   */
  unread: Int32Array;
  kind: 'page' | 'worker';
  library: { folder: string; version: string; packages: string[] };
  options: { network: object; userAgent: string; memoryLimit: number; sampleBudget: number; threadLimit: number };
  /** A saved cookie jar. */
  cookies: ConstructorParameters<typeof Cookies>[0];
  /** What another thread has loaded of the host's modules. */
  modules?: PackedModules;
  /** See cloning/value-serializer.cjs. */
  cloneKey: Uint8Array;
  /** See any-realm/page-state.cjs. */
  pageState: Int32Array;
  /** Its first element is not 0 when V8 has lost the thread, see host/lost-threads.cjs; undefined if the process does not survive that. */
  lost?: Int32Array | undefined;
}
