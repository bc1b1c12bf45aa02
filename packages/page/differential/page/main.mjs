// The last module of a document of probes: gives the program that drives the page what it calls.

import { names, run, runAll } from './probe.mjs';

globalThis.probing = { names, run, runAll };
