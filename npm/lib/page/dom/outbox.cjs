'use strict';

// What this thread tells whoever opened the page. The port was moved into this realm: messages are made and read here.

const gate = require('selfprof:gate');

let port;

/** Sends plain data, with the pipes that are in its record. */
exports.tell = (message) => port.postMessage(message, pipesIn(message.record));

/** The pipes of ports that a record transfers: they have to be named to travel. */
function pipesIn(record) {
  const pipes = [];
  for (const node of record?.nodes ?? []) if (node.type === 'Transferred') pipes.push(node.value.pipe);
  return pipes;
}
exports.pipesIn = pipesIn;

exports.connect = (given, onMessage) => {
  port = given;
  port.onmessage = ({ data }) => gate.enter(() => onMessage(data));
  port.start?.();
};
