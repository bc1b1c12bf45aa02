'use strict';

// Marks what jsdom does to resolve styles: a declaration of getComputedStyle() resolves a value when it is read.

const resolve = require('jsdom/lib/jsdom/living/css/resolve.js');

const { during } = require('./work.cjs');

const { getComputedPropertyNames, getResolvedPropertyValue } = resolve;

// Declarations look it up there each time.
resolve.getResolvedPropertyValue = (property, element) =>
  during(element._globalObject, 'style', () => getResolvedPropertyValue(property, element));
resolve.getComputedPropertyNames = (element) => during(element._globalObject, 'style', () => getComputedPropertyNames(element));
