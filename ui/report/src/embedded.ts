// The data that `selfprof report` writes into the page. crates/cli/src/commands/report/embedded.rs is the other side.

import type { ComparisonData, ProfileData } from '@selfprof/views/profile-data.ts';

/** The version of this data format. A page reads its own version only. */
export const VERSION = 5;

export interface Embedded {
  version: number;
  /** The program that wrote it, with its version. */
  generator: string;
  traces: ProfileData[];
  /** The comparison of the first two traces, as `selfprof diff` computes it. */
  comparison: ComparisonData | null;
}

/** Decodes the data: base64 of gzip of JSON, so that no text of a trace can be parsed as markup. */
export async function readEmbedded(text: string): Promise<Embedded> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  // `Uint8Array.from` takes ten times as long, and there may be millions of bytes.
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const embedded = (await new Response(stream).json()) as Embedded;
  if (embedded.version !== VERSION)
    throw new Error(`the data has format version ${embedded.version}, and this page reads version ${VERSION}`);
  return embedded;
}
