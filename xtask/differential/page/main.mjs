// The last module of a document of probes: gives the program that drives the page what it calls.

import { fileNames, namesIn, run } from './probe.mjs';

globalThis.probing = { fileNames, namesIn, run };
