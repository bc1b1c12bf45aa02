/**
 * A predicate for `Profile.identity`: every word of the search must occur in the name or the location of a function.
 */
export function searchMatcher(search: string): (identity: string) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (identity) => {
    const text = identity.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
