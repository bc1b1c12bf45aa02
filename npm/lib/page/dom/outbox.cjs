'use strict';

// What this thread tells whoever opened the page. The port was moved into this realm: messages are made and read here.

let port;

/** Sends plain data. */
exports.tell = (message) => port.postMessage(message);

exports.connect = (given, onMessage) => {
  port = given;
  port.onmessage = ({ data }) => onMessage(data);
  port.start?.();
};
