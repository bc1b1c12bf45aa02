'use strict';

// The threads of a page. Documents of one origin that can reach each other share one; a frame of another origin has a thread
// of its own, so that code there has no object of its embedder's to start from; and so has each worker. What crosses threads goes through here, where
// it is known who is whose: messages between windows, and where frames navigate to.

const { MessagePort } = require('node:worker_threads');

const { BlobRegistry } = require('./blob-registry.cjs');
const { now } = require('./network/timing.cjs');
const { Refused, describeFrame } = require('./policy/documents.cjs');
const { serialize } = require('./policy/origin.cjs');
const { Workers } = require('./workers.cjs');

/** How many windows of a thread are listed. */
const MAX_WINDOWS = 1_000;

/**
 * A thread of a page.
 *
 * @typedef {object} Site
 * @property {number} id
 * @property {import('./thread.cjs').ThreadHandle} thread
 * @property {import('./policy/documents.cjs').Description} document of its outermost window
 * @property {Map<number, { url: string, parent: number }>} windows as the thread tells of them
 * @property {{ site: Site, window: number, frame: number } | undefined} parent the window and the frame element in it that
 *   hold it, by their numbers in their own thread; undefined for the page itself
 * @property {import('./workers.cjs').Owner | undefined} owner who made it, of a worker
 */

class Sites {
  #host;
  #page;
  /** @type {Map<number, Site>} */
  #sites = new Map();
  #nextSite = 0;
  #starting = 0;
  /** Public numbers of windows, by site and by the number that the site's thread gave them. 0 is the page itself. */
  #frames = new Map();
  #nextFrame = 0;
  #isVisible;
  #blobs = new BlobRegistry();
  #workers;

  /**
   * @param {import('./host.cjs').HostInternals} host
   * @param {{ hear: (site: Site, message: object) => void, problem: (site: Site, kind: string, text: string, url: string) => void,
   *   crash: (site: Site, error: Error) => void }} page what is told of what happens
   * @param {boolean} isVisible whether the page is in the foreground
   */
  constructor(host, page, isVisible) {
    this.#host = host;
    this.#page = page;
    this.#isVisible = isVisible;
    this.#workers = new Workers(host, this);
  }

  /**
   * Puts a document into a thread.
   *
   * @param {import('./thread.cjs').ThreadHandle} thread one that is ready
   * @param {import('./policy/documents.cjs').Description} document
   * @param {{ body: Uint8Array, referrer: string }} content
   * @param {Site['parent']} [parent]
   */
  open(thread, document, { body, referrer }, parent) {
    const site = this.#add(thread, document, { parent });
    const place = parent === undefined ? undefined : { parent: this.#address(parent.site, parent.window), top: this.#topOf(parent.site) };
    const isVisible = this.#isVisible;
    thread.control({ type: 'open', document, content: { body: new Uint8Array(body), referrer }, place, isVisible });
    return site;
  }

  /**
   * Puts a worker into a thread.
   *
   * @param {import('./workers.cjs').Owner} owner
   * @param {{ response: object, referrer: string }} content
   * @param {MessagePort} port to the one who made it
   */
  openWorker(thread, document, content, owner, port) {
    const site = this.#add(thread, document, { owner });
    thread.control({ type: 'open worker', document, content, port }, [port]);
    return site;
  }

  #add(thread, document, { parent, owner }) {
    const windows = new Map([[0, { url: document.url, parent: -1 }]]);
    const site = { id: this.#nextSite++, thread, document, parent, owner, windows };
    this.#sites.set(site.id, site);
    thread.on('message', (message) => this.#hear(site, message));
    thread.on('control', (message) => this.#control(site, message));
    thread.on('exit', (error) => {
      this.#forget(site);
      this.#workers.noteExit(site, error);
      if (error !== undefined) this.#page.crash(site, error);
    });
    this.frameOf(site, 0);
    return site;
  }

  /** Whether a thread is one of the page's still. */
  has(site) {
    return this.#sites.has(site.id);
  }

  /** Takes a place among the page's threads. @throws {Refused} */
  reserve() {
    const { threadLimit } = this.#host;
    if (this.#sites.size + this.#starting >= threadLimit) throw new Refused(`the page has ${threadLimit} threads and may have no more`);
    this.#starting += 1;
    return () => {
      this.#starting -= 1;
    };
  }

  #topOf(site) {
    let top = site;
    while (top.parent !== undefined) top = top.parent.site;
    return this.#address(top, 0);
  }

  /** What another thread knows a window by. */
  #address(site, frame) {
    return { site: site.id, frame, origin: serialize(site.document.origin) };
  }

  /** The public number of a window. */
  frameOf(site, frame) {
    const key = `${site.id}.${frame}`;
    let number = this.#frames.get(key);
    if (number === undefined) {
      number = this.#nextFrame++;
      this.#frames.set(key, number);
    }
    return number;
  }

  /** The window of a public number. */
  find(number) {
    for (const [key, known] of this.#frames) {
      if (known !== number) continue;
      const [site, frame] = key.split('.').map(Number);
      const found = this.#sites.get(site);
      if (found !== undefined) return { site: found, frame };
    }
    return undefined;
  }

  /** The windows of a page, in the order in which they came. */
  list() {
    const list = [];
    for (const site of this.all()) {
      if (site.owner !== undefined) continue;
      for (const [frame, { url, parent }] of site.windows) {
        let outer = parent === -1 ? undefined : this.frameOf(site, parent);
        if (frame === 0 && site.parent !== undefined) outer = this.frameOf(site.parent.site, site.parent.window);
        list.push({ frame: this.frameOf(site, frame), parent: outer, url, origin: serialize(site.document.origin) });
      }
    }
    return list.sort((a, b) => a.frame - b.frame);
  }

  /** The workers of a page, in the order in which they came. */
  workers() {
    const workers = this.all().filter(({ owner }) => owner !== undefined);
    return workers.map((site) => ({
      frame: this.frameOf(site, 0),
      parent: this.frameOf(site.owner.site, site.owner.window),
      url: site.document.url,
      name: site.document.worker.name,
      type: site.document.worker.type,
    }));
  }

  /**
   * The public number of a window inside of another, as the other's thread tells where it is.
   *
   * @param {number} outer its public number
   * @param {{ window?: unknown, remote?: unknown }} place
   * @returns {number | undefined}
   */
  within(outer, { window, remote }) {
    const target = this.find(outer);
    if (target === undefined) return undefined;
    if (typeof window === 'number') return target.site.windows.has(window) ? this.frameOf(target.site, window) : undefined;
    const child = this.#childOf(target.site, remote);
    return child === undefined ? undefined : this.frameOf(child, 0);
  }

  all() {
    return [...this.#sites.values()];
  }

  /**
   * Brings the page to the foreground, or takes it from there.
   *
   * @returns {{ site: Site, asked: ReturnType<import('./thread.cjs').ThreadHandle['command']> }[]} what its threads answer
   */
  setVisible(isVisible) {
    this.#isVisible = isVisible;
    // Workers go on: they have nothing to show.
    const shown = this.all().filter(({ owner }) => owner === undefined);
    return shown.map((site) => ({ site, asked: site.thread.command({ type: 'visibility', isVisible }) }));
  }

  #hear(site, message) {
    if (site.owner !== undefined) {
      this.#page.hear(site, message);
      return;
    }
    switch (message.type) {
      case 'post':
        this.#post(site, message);
        return;
      case 'window':
      case 'window at':
      case 'window closed':
        this.#noteWindow(site, message);
        return;
      case 'close remote':
        this.#closeChild(site, message.frame);
        return;
      case 'load':
        if (message.frame === 0 && site.parent !== undefined) {
          site.parent.site.thread.tell({ type: 'remote loaded', frame: site.parent.frame });
        }
        this.#page.hear(site, message);
        return;
      case 'navigate':
        if (site.parent !== undefined) {
          // The frame's own document sends it elsewhere: its embedder's thread asks for that, as for any other.
          const { url, referrer } = message;
          site.parent.site.thread.tell({ type: 'navigate remote', frame: site.parent.frame, url, referrer });
          return;
        }
        this.#page.hear(site, message);
        return;
      default:
        this.#page.hear(site, message);
    }
  }

  #noteWindow(site, { type, frame, parent, url }) {
    if (typeof frame !== 'number') return;
    if (type === 'window closed') {
      if (frame !== 0 && site.windows.delete(frame)) this.#frames.delete(`${site.id}.${frame}`);
      return;
    }
    const known = site.windows.get(frame);
    if (known !== undefined) known.url = String(url);
    else if (type === 'window' && site.windows.size < MAX_WINDOWS) site.windows.set(frame, { url: String(url), parent: Number(parent) });
  }

  /** https://html.spec.whatwg.org/multipage/web-messaging.html#window-post-message-steps, between threads */
  #post(site, { from, to, record, targetOrigin, weight }) {
    const target = this.#sites.get(to?.site);
    if (target === undefined || target === site || target.owner !== undefined) return;
    if (targetOrigin !== '*' && targetOrigin !== serialize(target.document.origin)) return;
    // A sandboxed or local document's origin is like no other: a page cannot name it.
    if (targetOrigin === 'null') return;
    const source = this.#address(site, typeof from === 'number' ? from : 0);
    target.thread.forward({ type: 'message', frame: to.frame, record, source, weight }, pipesIn(record));
  }

  #control(site, message) {
    switch (message.type) {
      case 'cookie':
        this.#host.shareCookie(message.change, site.thread);
        return;
      case 'failure':
        this.#page.problem(site, 'host', message.message, '');
        return;
      case 'worker':
        this.#workers.start(site, message);
        return;
      case 'end worker':
        this.#workers.end(site, message.id);
        return;
      case 'worker failed':
        this.#workers.fail(site, message.error);
        return;
      case 'closed':
        this.close(site);
        return;
      case 'import':
        this.#importScript(site, message);
        return;
      case 'blob made':
        this.#blobs.add(site, message);
        return;
      case 'blob gone':
        this.#blobs.remove(site, message.url);
        return;
      case 'blob':
        site.thread.control({ type: 'answer', id: message.id, blob: this.#findBlob(message.url, site) });
        return;
      case 'frame':
        this.#loadFrame(site, message).catch((error) => {
          site.thread.control({ type: 'frame', id: message.id, error: error.message });
        });
        return;
      default:
    }
  }

  #findBlob(url, site) {
    const found = this.#blobs.get(url, site.document.origin);
    if (found !== undefined) return found;
    // Whoever told this thread of the URL may have made it a moment ago.
    for (const { thread } of this.all()) thread.drain();
    return this.#blobs.get(url, site.document.origin);
  }

  /** `importScripts()`: a worker waits. */
  async #importScript(site, { url, referrer, signal, port }) {
    let answer;
    try {
      const request = { url, mode: 'no-cors', credentials: 'same-origin', destination: 'script', referrer };
      const response = await this.#host.network.fetch(request, this.clientOf(site));
      answer = { response: { ...response, body: new Uint8Array(response.body) } };
    } catch (error) {
      answer = { error: error.message };
    }
    port.postMessage(answer);
    port.close();
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  /** Who asks, when a thread has this one fetch. */
  clientOf({ document: { origin, embedderPolicy } }, blob) {
    const site = { document: { origin } };
    const found = (url) => this.#findBlob(url, site);
    return {
      origin,
      embedderPolicy,
      blobAt: (url) => blob ?? (found(url) && { type: found(url).media, bytes: new Uint8Array(new Uint8Array(found(url).bytes)) }),
    };
  }

  /** Loads the document of a frame, and decides which thread it lives in. */
  async #loadFrame(site, { id, window, frame, url, referrer, isSandboxed, initiator }) {
    const client = this.clientOf(site);
    const request = { url, mode: 'navigate', credentials: 'include', destination: 'iframe', referrer };
    const { protocol } = new URL(url);
    if (protocol === 'blob:') throw new Refused('documents of blob: URLs are not supported');
    const startedAt = now();
    const report = (timing) => site.thread.control({ type: 'fetched', window, url, initiator, timing });
    let response;
    try {
      response = await this.#host.network.fetch(request, client);
    } catch (error) {
      report(error.timing);
      throw error;
    }
    const { timing } = response;
    report(timing);
    const document = { ...describeFrame(response, site.document, { isSandboxed }), startedAt, timing };
    const content = { body: new Uint8Array(response.body), referrer };
    this.#closeChild(site, frame);
    if (document.origin === site.document.origin) {
      site.thread.control({ type: 'frame', id, document, content });
      return;
    }
    const release = this.reserve();
    const thread = this.#host.startThread();
    try {
      await thread.ready();
    } finally {
      release();
    }
    if (!this.#sites.has(site.id)) {
      await thread.terminate();
      return;
    }
    const child = this.open(thread, document, content, { site, window, frame });
    site.thread.control({ type: 'frame', id, remote: this.#address(child, 0) });
  }

  #childOf(site, frame) {
    return this.all().find(({ parent }) => parent?.site === site && parent.frame === frame);
  }

  #closeChild(site, frame) {
    const child = this.#childOf(site, frame);
    if (child !== undefined) this.close(child);
  }

  #forget(site) {
    if (!this.#sites.delete(site.id)) return;
    for (const frame of site.windows.keys()) this.#frames.delete(`${site.id}.${frame}`);
    this.#blobs.forget(site);
    for (const child of this.all()) if (child.parent?.site === site || child.owner?.site === site) this.close(child);
  }

  /** Ends a thread, and those of the frames in it. */
  close(site) {
    this.#forget(site);
    // What a worker could hand over is a part of what a page can.
    return site.owner === undefined ? site.thread.retire() : site.thread.terminate();
  }

  async closeAll() {
    await Promise.all(this.all().map((site) => this.close(site)));
  }
}

/** The ports of a record, which have to be named to travel on. */
function pipesIn(record) {
  if (!Array.isArray(record?.nodes)) return [];
  return record.nodes.map((node) => node?.value?.pipe).filter((pipe) => pipe instanceof MessagePort);
}

module.exports = { Sites };
