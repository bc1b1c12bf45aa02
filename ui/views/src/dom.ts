// Builds elements. Text is inserted as text, never as markup: names and URLs come from the profiled program.

type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/**
 * Creates an element. Functions become event listeners, everything else attributes; undefined and false are left out.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') created.addEventListener(name, value as EventListener);
    else created.setAttribute(name, value === true ? '' : String(value));
  }
  created.append(...children);
  return created;
}
