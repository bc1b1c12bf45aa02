'use strict';

// Runs jsdom's resolution of styles under a profiler marker. A declaration of getComputedStyle() resolves a value when
// it is read.

const resolve = require('jsdom/lib/jsdom/living/css/resolve.js');

const { runWithMarker } = require('./profiler-markers.cjs');

const { getComputedPropertyNames, getResolvedPropertyValue } = resolve;

// Declarations look these functions up in the module each time.
resolve.getResolvedPropertyValue = (/** @type {string} */ property, /** @type {Jsdom.ElementImpl} */ element) =>
  runWithMarker(element._globalObject, 'style', () => getResolvedPropertyValue(property, element));
resolve.getComputedPropertyNames = (/** @type {Jsdom.ElementImpl} */ element) =>
  runWithMarker(element._globalObject, 'style', () => getComputedPropertyNames(element));
