// Sends what is to be sent, keeps what did not arrive, and tries again.

import { load, save, scope } from './scope.ts';

export interface Sender {
  add(body: string): void;
  /** Sends what waits, in its own time. */
  send(): void;
  /** Sends what waits before the page can be frozen or ended, and keeps it for the next page of this tab. */
  leave(isEnd: boolean): void;
}

interface Item {
  body: string;
  isOnItsWay?: boolean;
}

/** What waits is at most so large, in characters. The oldest is dropped. */
const MAX_WAITING = 1_000_000;

/** The storage of a tab has some five million characters for the whole application. */
const MAX_KEPT = 250_000;

/** Browsers send so many bytes at most for pages that end, of all requests together. */
export const MAX_KEEPALIVE = 60_000;

const KEPT = 'selfprof.unsent';

/** In milliseconds. Each failure doubles it. */
const FIRST_RETRY = 5_000;
const LAST_RETRY = 300_000;

/** The worker could not start. */
const NOT_SENT = -1;

/** A body without a type needs no preflight. The collector sees that it is gzip. */
const REQUEST = { method: 'POST', credentials: 'omit', referrerPolicy: 'no-referrer' } as const;

/**
 * Runs in the worker. It is text, because the application's bundler may translate functions into some that need others.
 */
const WORKER = `onmessage=async({data:[n,u,b]})=>{let s=0
try{b=await new Response(new Blob([b]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()}catch{}
try{s=(await fetch(u,{...${JSON.stringify(REQUEST)},body:b})).status}catch{}
postMessage([n,s])}`;

const sizeOf = (items: Item[]) => items.reduce((sum, { body }) => sum + body.length, 0);

/** The first ones that have room. */
const fitting = (items: Item[], room: number) =>
  items.filter(({ body }) => {
    room -= body.length;
    return room >= 0;
  });

const without = (items: Item[], others: Item[]) =>
  items.filter(({ body }) => !others.some((other) => other.body === body));

export function sender(url: string, mayUseWorker: boolean): Sender {
  const isPage = scope.document !== undefined;
  let waiting: Item[] = [];
  let worker: Worker | undefined;
  let isRefused = false;
  let failures = 0;
  let isPausing = false;
  let requests = 0;
  let sizeAtEnd = 0;
  const answers = new Map<number, (status: number) => void>();

  const kept = (): Item[] => {
    const list = isPage && load(KEPT);
    return Array.isArray(list) ? list.map((body) => ({ body })) : [];
  };

  /**
   * Takes over what other pages of this tab have not sent, or do not know that it arrived. A page may end after the
   * next one has begun, so this is done each time.
   */
  const takeKept = () => {
    waiting.push(...without(kept(), waiting));
  };

  const keep = (items: Item[]) => {
    const bodies = fitting(items, MAX_KEPT).map(({ body }) => body);
    save(KEPT, bodies.length ? bodies : undefined);
  };

  const sendPlain = async (body: string, keepalive: boolean) => {
    try {
      return (await fetch(url, { ...REQUEST, body, keepalive })).status;
    } catch {
      return 0;
    }
  };

  const startWorker = () => {
    try {
      const address = URL.createObjectURL(new Blob([WORKER]));
      worker = new Worker(address);
      URL.revokeObjectURL(address);
      worker.onmessage = ({ data: [number, status] }) => answers.get(number)?.(status);
      worker.onerror = (event) => {
        // Such as a Content Security Policy.
        event.preventDefault();
        mayUseWorker = false;
        endWorker();
        for (const answer of [...answers.values()]) answer(NOT_SENT);
      };
    } catch {
      mayUseWorker = false;
    }
  };

  const endWorker = () => {
    worker?.terminate();
    worker = undefined;
  };

  const sendCompressed = (body: string) =>
    new Promise<number>((resolve) => {
      const number = requests++;
      answers.set(number, (status) => {
        answers.delete(number);
        resolve(status);
      });
      worker?.postMessage([number, url, body]);
    });

  const deliver = async (items: Item[], request: (body: string) => Promise<number>) => {
    for (const item of items) item.isOnItsWay = true;
    const status = await request(items.map(({ body }) => body).join('\n'));
    for (const item of items) item.isOnItsWay = false;
    if (status === NOT_SENT) return send();
    // What the collector does not understand, it will not understand later.
    const isOver = status >= 200 && status < 500 && status !== 408 && status !== 429;
    if (isOver) {
      failures = 0;
      isRefused = status > 400 && status < 405;
      waiting = isRefused ? [] : waiting.filter((item) => !items.includes(item));
      const others = kept();
      if (others.length) keep(isRefused ? [] : without(others, items));
      return;
    }
    isPausing = true;
    const pause = Math.min(FIRST_RETRY * 2 ** failures++, LAST_RETRY) * (0.5 + Math.random());
    setTimeout(() => {
      isPausing = false;
      send();
    }, pause);
  };

  const send = () => {
    takeKept();
    const items = waiting.filter((item) => !item.isOnItsWay);
    if (!items.length || isPausing || isRefused) return;
    if (mayUseWorker && !worker) startWorker();
    deliver(items, worker ? sendCompressed : (body) => sendPlain(body, false));
  };

  const leave = (isEnd: boolean) => {
    if (isEnd) {
      endWorker();
      answers.clear();
    }
    takeKept();
    // What the worker has sent may be cut off, so it is sent again. It counts once.
    const possible = waiting.filter((item) => isEnd || !item.isOnItsWay);
    const items = fitting(possible, MAX_KEEPALIVE - sizeAtEnd);
    if (items.length && !isRefused) {
      const size = sizeOf(items);
      sizeAtEnd += size;
      deliver(items, (body) =>
        sendPlain(body, true).finally(() => {
          sizeAtEnd -= size;
        }),
      );
    }
    if (isPage) keep(isRefused ? [] : waiting);
  };

  return {
    add(body) {
      if (isRefused) return;
      waiting.push({ body });
      let size = sizeOf(waiting);
      while (size > MAX_WAITING) size -= waiting.shift()?.body.length ?? size;
    },
    send,
    leave,
  };
}
