// Finds objects that a page must not reach.

/**
 * Runs in the page: walks all objects that can be reached from the global object and from `extra`, through properties, accessors, symbols
 * and prototypes, and reports objects of a third realm and functions that compile code elsewhere.
 *
 * @param {(object: object) => boolean} [isForeign] whether an object is of a third realm though its prototypes do not show it
 * @returns {{ found: string[], count: number, isComplete: boolean }} `isComplete` is false when there were more objects than the limit
 */
export function walk(extra, limit = 400_000, isForeign = () => false) {
  const found = [];
  const seen = new Set();
  const queue = [];
  const add = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
    queue.push([value, path]);
  };
  const rootOf = (object) => {
    let root = object;
    for (let next = Object.getPrototypeOf(root); next !== null; next = Object.getPrototypeOf(root)) root = next;
    return root;
  };
  // The page's own realm, those of its frames, and the DOM realm.
  const roots = new Set([Object.prototype, rootOf(Headers.prototype)]);
  for (let index = 0; index < (self.frames?.length ?? 0); index++) roots.add(frames[index].Object.prototype);
  add(self, 'self');
  for (const [name, value] of Object.entries(extra)) add(value, name);
  let count = 0;
  // Breadth first, so that an endless chain of new objects would not keep the walk from the others.
  for (let next = 0; next < queue.length; next++) {
    const [object, path] = queue[next];
    if (count === limit) return { found, count, isComplete: false };
    count += 1;
    if (isForeign(object)) found.push(`${path}: made in another realm`);
    let root;
    try {
      root = rootOf(object);
    } catch {
      continue;
    }
    // An object without a prototype belongs to no realm, nor does what inherits from it, but their properties are walked.
    if (!roots.has(root) && Object.hasOwn(root, 'constructor') && root !== object && found.length < 20) {
      found.push(`${path}: of another realm`);
      continue;
    }
    if (typeof object === 'function') {
      try {
        const outside = object.constructor('return this')();
        if (!roots.has(rootOf(outside))) found.push(`${path}: its constructor compiles elsewhere`);
      } catch {
        // Expected.
      }
    }
    add(Object.getPrototypeOf(object), `${path}.__proto__`);
    for (const key of Reflect.ownKeys(object)) {
      const name = `${path}.${String(key)}`;
      let property;
      try {
        property = Object.getOwnPropertyDescriptor(object, key);
      } catch {
        continue;
      }
      if (property === undefined) continue;
      add(property.get, `${name} getter`);
      add(property.set, `${name} setter`);
      try {
        add(property.get === undefined ? property.value : object[key], name);
      } catch (error) {
        add(error, `${name} thrown`);
      }
    }
  }
  return { found, count, isComplete: true };
}
