// What a page thread is started with, and what it knows about its documents.

import type { SerializedCookieJar } from 'tough-cookie';

import type { TransportOptions } from '../fetch/http.cjs';
import type { PageDocument } from './thread-messages.js';

export type Credentials = 'omit' | 'same-origin' | 'include';

/** A saved cookie jar. */
export type SavedCookies = SerializedCookieJar | undefined;

/** What a window shows: a document, or the empty one, of which nothing but the URL is known. */
export type ShownDocument = Partial<PageDocument> & { url: string };

/** `workerData` of a page thread. */
export interface ThreadData {
  kind: 'page' | 'worker';
  library: { folder: string; version: string; packages: string[] };
  options: { network: TransportOptions; userAgent: string; memoryLimit: number };
}

/** What page-thread.cjs calls of the modules around jsdom. */
export interface DomProgram {
  /** Handles a message of the host. */
  receive(message: any): void;
  /** `content` is the document's bytes; of a worker, the port to the object that started it. */
  open(description: any, content: any): void;
  /** A worker: its script has run for the first time, so messages may arrive. */
  start?(): void;
  setVisible(isVisible: boolean): void;
  /** The documents of the thread are about to go: their last events are fired. */
  unload?(): void;
  /** Closes all windows. */
  close?(): void;
  /** A frame of another thread asks to be navigated. */
  navigateFrame?(frame: number, asked: { url: string; referrer: string; asker: number }): void;
  report(error: unknown, window?: object): void;
  reject(reason: unknown, promise: object): void;
}
