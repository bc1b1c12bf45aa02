// The `// META: key=value` lines at the start of a test in JavaScript.

/** @returns {[key: string, value: string][]} */
export function readMetadata(text) {
  const found = [];
  for (const line of text.split(/\r?\n/)) {
    const match = /^\/\/\s*META:\s*(\w*)=(.*)$/.exec(line);
    if (match === null) break;
    found.push([match[1], match[2].trim()]);
  }
  return found;
}
