import { element } from './dom.ts';

/** Where people search for functions; `searchMatcher` finds them. */
export function searchInput(): HTMLInputElement {
  return element('input', {
    type: 'search',
    placeholder: 'Search functions and files',
    'aria-label': 'Search functions and files',
    autocomplete: 'off',
    spellcheck: 'false',
  });
}
