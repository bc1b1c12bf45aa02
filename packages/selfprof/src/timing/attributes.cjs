'use strict';

/**
 * The attributes of PerformanceTiming, in the order of its IDL:
 * https://www.w3.org/TR/navigation-timing/#sec-navigation-timing-interface
 */
const ATTRIBUTES = [
  'navigationStart',
  'unloadEventStart',
  'unloadEventEnd',
  'redirectStart',
  'redirectEnd',
  'fetchStart',
  'domainLookupStart',
  'domainLookupEnd',
  'connectStart',
  'connectEnd',
  'secureConnectionStart',
  'requestStart',
  'responseStart',
  'responseEnd',
  'domLoading',
  'domInteractive',
  'domContentLoadedEventStart',
  'domContentLoadedEventEnd',
  'domComplete',
  'loadEventStart',
  'loadEventEnd',
];

module.exports = { ATTRIBUTES };
