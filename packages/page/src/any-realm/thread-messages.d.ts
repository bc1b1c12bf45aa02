// The messages between the user's thread and the page threads.
//
// They go through its main realm, which is trusted. A page can take over the DOM realm, so what that sends is read by the main realm first:
// main-realm/dom-messages.cjs. Messages for the DOM realm have a port of their own, so that they are made of objects of that realm; a message
// for the main realm announces each.

import type { MessagePort } from 'node:worker_threads';

import type { CookieChange } from '../fetch/cookies.cjs';
import type { Description } from '../fetch/document-description.cjs';
import type { FetchTiming } from '../fetch/fetch-timing.cjs';
import type { InterceptedRequest, Interception } from '../fetch/network.cjs';
import type { BlobContent, Request, Response } from '../fetch/request.cjs';
import type { Sandbox } from './sandbox-attribute.cjs';
import type { PackedModules } from './packed-modules.cjs';
import type { WorkerOptions } from '../fetch/worker-description.cjs';

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

/** Requests that the main realm answers with `done`. */
export type MainRealmRequest =
  | { type: 'force sample'; frame: number }
  | { type: 'modules' }
  | { type: 'visibility'; isVisible: boolean }
  | { type: 'unload' }
  | { type: 'take profile' }
  | { type: 'await idle'; quiet: number };

/** The answer to a {@link MainRealmRequest}. */
export interface MainRealmAnswer {
  type: 'done';
  id: number;
  error?: string | undefined;
  /** A trace as gzipped JSON. */
  bytes?: Uint8Array;
  /** What the thread has loaded of the host's modules. */
  modules?: PackedModules;
}

/** An answer that the DOM realm may give, and what the shapes of its value may cost: see cloning/object-shapes.cjs. */
export interface Expected {
  id: number;
  maxShapeCost: number;
}

/** From the user's thread to a main realm. */
export type ToMainRealm =
  | {
      type: 'open';
      document: PageDocument;
      content: DocumentContent;
      ancestors?: Ancestors | undefined;
      storage?: StoredItems | undefined;
      initScripts: string[];
      isVisible: boolean;
    }
  | { type: 'open worker'; document: WorkerDocument; content: WorkerContent; port: MessagePort }
  | { type: 'cookie'; change: CookieChange }
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
  | { type: 'frame'; id: number; error: string; isUnchanged: boolean }
  | { type: 'frame'; id: number; document: PageDocument; content: DocumentContent }
  | { type: 'frame'; id: number; remote: Omit<WindowAddress, 'origin'>; error?: string | undefined }
  | { type: 'navigate frame'; frame: number; url: string; referrer: string; asker: number }
  | { type: 'fetched'; window: number; url: string; initiator: string; timing?: FetchTiming | undefined }
  | { type: 'answered' }
  /** There is a message for the DOM realm, of so many kilobytes; a request has a number. */
  | { type: 'dom'; weight: number; asked: Expected | undefined }
  | { type: 'ping'; id: number }
  | (MainRealmRequest & { id: number });

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
  /** The thread that asked for the navigation, by its number in the page; by default, the one that contains the frame. */
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
  weight?: number;
}

/** A request that outlives its document. */
export interface KeptRequest {
  type: 'keepalive';
  id: number;
  request: Request;
  /** That of the document that makes it. */
  embedderPolicy: PageDocument['embedderPolicy'];
  /** Its size in kilobytes. */
  weight?: number;
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

/** A script for `importScripts()`. The worker waits until `signal` is not 0. */
export interface ImportScriptRequest {
  type: 'import';
  url: string;
  referrer: string;
  signal: Int32Array;
  port: MessagePort;
}

/** What a page thread asks of the user's thread, or reports to it, by itself. */
export type MainRealmReport =
  | { type: 'cookie'; change: CookieChange; weight: number }
  | { type: 'failure'; message: string; weight: number }
  | { type: 'problem'; frame: number; kind: string; text: string; url: string; weight: number }
  | WorkerRequest
  | { type: 'end worker'; id: number }
  | { type: 'end frame'; id: number }
  | { type: 'worker failed'; error: string }
  | { type: 'closed' }
  | ImportScriptRequest
  | { type: 'blob made'; url: string; media: string; bytes: SharedArrayBuffer; memory: number }
  | { type: 'blob gone'; url: string }
  | { type: 'blob'; id: number; url: string }
  | { type: 'intercept'; id: number; request: InterceptedRequest; weight: number }
  | KeptRequest
  | FrameRequest;

/** From a main realm to the user's thread. */
export type FromMainRealm =
  | { type: 'dom'; message: FromDomRealm; weight: number }
  | { type: 'ready' }
  | { type: 'delivered'; delivery: number }
  | { type: 'pong'; id: number }
  | MainRealmAnswer
  | MainRealmReport;

/** Requests that the DOM realm answers with `evaluated`. */
export type DomRealmRequest =
  | { type: 'evaluate'; source: string; isFunction: boolean; parameters: object }
  | { type: 'automate'; command: string; names: { prefix: string; handle: string }; parameters: object };

/** From the user's thread to a DOM realm. */
export type ToDomRealm =
  | { type: 'message'; frame: number; record: unknown; source: WindowAddress }
  | { type: 'remote loaded'; frame: number }
  | {
      type: 'storage';
      area: StorageArea;
      name: string;
      value: string | null;
      url: string;
    }
  | (DomRealmRequest & { id: number; frame: number });

/**
 * From a DOM realm to the user's thread. `type` is one of `evaluated`, `post`, `window`, `window at`, `window closed`,
 * `close remote`, `navigate`, `storage`, `DOMContentLoaded`, `load`, `console`, `exception` and `problem`; a page may send anything else, too.
 */
export type FromDomRealm = { readonly type: string } & { readonly [member: string]: unknown };
