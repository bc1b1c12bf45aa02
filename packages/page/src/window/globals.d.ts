/** Descriptors without a prototype do not inherit what a page has put on `Object.prototype`. */
interface PropertyDescriptor {
  __proto__?: null;
}
