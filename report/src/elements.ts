// Making elements. Text goes in as text, never as markup: names and URLs come from whatever was profiled.

type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name, value as EventListener);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/** Replaces what is in an element. */
export function fill(parent: Element, ...children: (Node | string)[]): void {
  parent.replaceChildren(...children);
}
