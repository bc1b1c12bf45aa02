// The messages between the page host and its page threads.

import type { MessagePort } from 'node:worker_threads';

import type { SerializedCookieJar } from 'tough-cookie';

import type { CookieChange } from '../fetch/cookies.cjs';
import type { Description } from '../fetch/document-description.cjs';
import type { FetchTiming } from '../fetch/fetch-timing.cjs';
import type { InterceptedRequest, Interception } from '../fetch/network.cjs';
import type { BlobContent, Request, Response } from '../fetch/request.cjs';
import type { Sandbox } from '../fetch/sandbox.cjs';
import type { WorkerOptions } from '../fetch/worker-description.cjs';
import type { CloneRecord, ErrorDescription } from '../window/contracts.js';

export type Credentials = 'omit' | 'same-origin' | 'include';

export type SavedCookies = SerializedCookieJar | undefined;

/** A window as another thread knows it: the number of its thread in the page, and its number in that thread. */
export interface WindowAddress {
  thread: number;
  frame: number;
  /** Serialized. */
  origin: string;
}

/** The windows around the outermost window of a thread, which are in other threads. */
export interface Ancestors {
  parent: WindowAddress;
  top: WindowAddress;
}

/** How the load of a document is recorded. */
export interface RecordingOptions {
  sampleInterval: number;
  maxBufferSize: number;
  includeSameOriginFrames: boolean;
}

/** The document of a page or a frame. */
export type PageDocument = Description & { profile?: RecordingOptions | undefined };

/** A worker, described as documents are. */
export type WorkerDocument = Description & { worker: WorkerOptions };

export interface DocumentContent {
  body: Uint8Array;
  referrer: string;
  /** What relative URLs in about:blank and about:srcdoc are resolved against. */
  base?: string | undefined;
}

export interface WorkerContent {
  response: Response;
  referrer: string;
}

export type StorageArea = 'localStorage' | 'sessionStorage';

/** The items of an origin. */
export type StoredItems = Record<StorageArea, [name: string, value: string][]>;

/** Requests that a thread answers with `done`. */
export type ThreadRequest =
  | { type: 'evaluate'; frame: number; source: string; isFunction: boolean; parameters: CloneRecord }
  | { type: 'automate'; frame: number; command: string; names: { prefix: string; handle: string }; parameters: object }
  | { type: 'force sample'; frame: number }
  | { type: 'visibility'; isVisible: boolean }
  | { type: 'unload' }
  | { type: 'release' }
  | { type: 'ping' }
  | { type: 'take profile' }
  | { type: 'await idle'; quiet: number };

/** The answer to a {@link ThreadRequest}. */
export interface ThreadAnswer {
  type: 'done';
  id: number;
  error?: any;
  /** A trace as gzipped JSON. */
  bytes?: Uint8Array;
  /** The result of a script. */
  record?: CloneRecord;
  /** The result of a command, as JSON. */
  text?: string;
  /** How many contexts the thread has after its release. */
  contexts?: number;
}

/** From the host to a thread. */
export type ToThread =
  | {
      type: 'open';
      page: string;
      document: PageDocument;
      content: DocumentContent;
      cookies: SavedCookies;
      ancestors?: Ancestors | undefined;
      storage?: StoredItems | undefined;
      initScripts: string[];
      isVisible: boolean;
    }
  | {
      type: 'open worker';
      page: string;
      document: WorkerDocument;
      content: WorkerContent;
      cookies: SavedCookies;
      port: MessagePort;
    }
  | { type: 'cookie'; change: CookieChange; isOwn: boolean }
  | { type: 'worker gone'; id: number; error?: string | undefined; hasStarted?: boolean | undefined }
  | {
      type: 'answer';
      id: number;
      blob?: SharedBlob | undefined;
      response?: Response;
      error?: string;
      timing?: FetchTiming | undefined;
      interception?: Interception | undefined;
    }
  | { type: 'intercepting'; isIntercepted: boolean }
  | { type: 'frame'; id: number; error: string; isUnchanged: boolean }
  | { type: 'frame'; id: number; document: PageDocument; content: DocumentContent }
  | { type: 'frame'; id: number; remote: Omit<WindowAddress, 'origin'>; error?: string | undefined }
  | { type: 'navigate frame'; frame: number; url: string; referrer: string; asker: number }
  | { type: 'fetched'; window: number; url: string; initiator: string; timing?: FetchTiming | undefined }
  | { type: 'message'; frame: number; record: CloneRecord; source: WindowAddress }
  | { type: 'remote loaded'; frame: number }
  | { type: 'storage'; area: StorageArea; name: string; value: string | null; url: string }
  | (ThreadRequest & { id: number });

/** The bytes of a blob: URL, which threads share. */
export interface SharedBlob {
  media: string;
  bytes: SharedArrayBuffer;
}

/** A frame whose document is to be loaded. */
export interface FrameRequest {
  type: 'frame';
  id: number;
  window: number;
  /** The frame element's number in its thread. */
  frame: number;
  url: string;
  referrer: string;
  /**
   * The thread that asked for the navigation, by its number in the page; by default, the one that contains the frame.
   */
  asker?: number | undefined;
  /** What the frame element allows. */
  sandbox: Sandbox;
  /** The attribute of the frame element. */
  allow: string | null;
  /** Whether the document around the frame element is isolated. */
  isIsolated: boolean;
  /** That of the document around the frame element. */
  embedderPolicy: Description['embedderPolicy'];
  /** What its header allows to be isolated. */
  isolated?: Description['isolated'] | undefined;
  /** What the document around the frame element may do. */
  outerSandbox?: Sandbox | undefined;
  /** The URL in the attribute `src` of the frame element, or nothing. */
  src: string;
  /** The document of about:srcdoc, in UTF-8, if it is not empty. */
  text?: Uint8Array<ArrayBuffer> | undefined;
  /** The base URL of the document around. */
  base: string;
  initiator: string;
}

/** A request that outlives its document. */
export interface KeptRequest {
  type: 'keepalive';
  id: number;
  request: Request;
  /** That of the document that makes it. */
  embedderPolicy: PageDocument['embedderPolicy'];
}

/** A worker that is to be started. */
export interface WorkerRequest {
  type: 'worker';
  id: number;
  window: number;
  url: string;
  /** The content of a blob: URL at the time of `new Worker()`. */
  blob?: BlobContent | undefined;
  options: WorkerOptions;
  /** Whether the window that starts it is isolated. */
  isIsolated: boolean;
  /** That of the document that starts it. */
  embedderPolicy: Description['embedderPolicy'];
  /** Whether the window that starts it may profile. */
  profiling: 'eager' | 'lazy' | undefined;
  referrer: string;
  startedAt: number;
  port: MessagePort;
}

/** A synchronous request. The thread waits until `signal` is not 0. */
export interface BlockingRequest {
  type: 'fetch now';
  request: Request;
  /** That of the document that makes it. */
  embedderPolicy: PageDocument['embedderPolicy'];
  signal: Int32Array;
  port: MessagePort;
}

/** What concerns the page as a whole. */
export type PageMessage =
  | { type: 'DOMContentLoaded'; frame: number }
  | { type: 'load'; frame: number }
  | { type: 'navigate'; url: string; referrer: string; replacement: boolean }
  | { type: 'window at'; frame: number; url: string }
  | { type: 'console'; frame: number; method: string; text: string }
  | ({ type: 'exception'; frame: number; filename: string; lineno: number; colno: number } & Omit<
      ErrorDescription,
      'name'
    >)
  | { type: 'problem'; frame: number; kind: string; text: string; url: string };

/** What a thread asks of the host, or reports to it, by itself. */
export type FromThread =
  | PageMessage
  | { type: 'cookie'; change: CookieChange }
  | { type: 'storage'; area: StorageArea; name: string; value: string | null }
  | { type: 'window'; frame: number; parent: number; url: string }
  | { type: 'window closed'; frame: number }
  | { type: 'close remote'; frame: number }
  | {
      type: 'post';
      from: number;
      to: { thread: number; frame: number };
      record: CloneRecord;
      targetOrigin: string;
    }
  | WorkerRequest
  | { type: 'end worker'; id: number }
  | { type: 'end frame'; id: number }
  | { type: 'worker failed'; error: string }
  | { type: 'closed' }
  | BlockingRequest
  | { type: 'blob made'; url: string; media: string; bytes: SharedArrayBuffer }
  | { type: 'blob gone'; url: string }
  | { type: 'blob'; id: number; url: string }
  | { type: 'intercept'; id: number; request: InterceptedRequest }
  | KeptRequest
  | FrameRequest;
