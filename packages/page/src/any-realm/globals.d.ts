/** The functions of the main realm that a bridge module gets: a parameter of the function that the module is compiled to. */
declare const mainRealm: unknown;

/** Descriptors without a prototype do not inherit what a page has put on `Object.prototype`. */
interface PropertyDescriptor {
  __proto__?: null;
}
