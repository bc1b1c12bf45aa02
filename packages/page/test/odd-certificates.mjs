// Certificates that no authority signs, for what a server may make OpenSSL read.

/** @param {number} tag @param {Uint8Array[]} parts */
function element(tag, ...parts) {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** The same, with a length in more bytes than it needs: BER, which DER forbids. */
function inBer(tag, ...parts) {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, 0x83, 0, content.length >> 8, content.length & 0xff]), content]);
}

/** The same, with an end in place of a length. */
function withoutLength(tag, ...parts) {
  return Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);
}

const sequence = (...parts) => element(0x30, ...parts);
const identifier = (hex) => element(6, Buffer.from(hex, 'hex'));
const integer = (hex) => element(2, Buffer.from(hex, 'hex'));
const bytes = (hex) => element(4, Buffer.from(hex, 'hex'));

const CURVE = '2a8648ce3d0201';
const PRIME_FIELD = '2a8648ce3d0101';
const PRIME = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';
const POINT =
  '046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5';

/** Those of the curve P-256, as a server would make up its own. @param {Uint8Array} field its kind */
function curve(field = identifier(PRIME_FIELD)) {
  return sequence(
    integer('01'),
    sequence(field, integer(`00${PRIME}`)),
    sequence(
      bytes(PRIME.replace(/f$/, 'c')),
      bytes('5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b'),
    ),
    bytes(POINT),
    integer('00ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'),
  );
}

/** @param {Uint8Array} algorithm @param {string} key @param {typeof element} write how the public key is written @param {Uint8Array[]} extensions */
function certificate(algorithm, key = POINT, write = element, extensions = []) {
  const signature = sequence(identifier('2a8648ce3d040302'));
  const time = (text) => element(0x17, Buffer.from(text));
  const publicKey = write(0x30, algorithm, element(3, Buffer.from(`00${key}`, 'hex')));
  const signed = sequence(
    element(0xa0, integer('02')),
    integer('01'),
    signature,
    sequence(),
    sequence(time('200101000000Z'), time('490101000000Z')),
    sequence(),
    publicKey,
    ...(extensions.length === 0 ? [] : [element(0xa3, sequence(...extensions))]),
  );
  const der = sequence(signed, signature, element(3, Buffer.from('003006020101020101', 'hex')));
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

/** An extension with points where revoked certificates are listed. @param {Uint8Array[]} names of the points */
function points(...names) {
  return sequence(identifier('551d1f'), element(4, sequence(...names.map((name) => sequence(element(0xa0, name))))));
}

const fullName = element(0xa0, element(0x86, Buffer.from('http://lists.test/')));
const relativeName = element(0xa1);

const named = sequence(identifier(CURVE), identifier('2a8648ce3d030107'));

/** By what is odd. @type {Record<string, string>} */
export const ODD_CERTIFICATES = {
  // sect571r1, with a point in half of its length, which takes longer to read.
  'a curve that is not known to browsers': certificate(
    sequence(identifier(CURVE), identifier('2b81040027')),
    '0201debd6cde341c69134c621fc2ae8430dded135a2abb65fb9629e514f8cb6f25dcd833e64fecace5098280285accfd2a78462c715414a58ac5e16219880774408eb4dfb5efe426dc',
  ),
  'a curve of its own': certificate(sequence(identifier(CURVE), curve())),
  'a curve of its own, in BER': certificate(
    sequence(identifier(CURVE), curve(inBer(6, Buffer.from(PRIME_FIELD, 'hex')))),
  ),
  'a curve of its own, without lengths': certificate(withoutLength(0x30, identifier(CURVE), curve())),
  // X25519, which signs nothing.
  'a key of another kind': certificate(sequence(identifier('2b656e')), '09'.repeat(32)),
  'lists at names that are relative to the issuer': certificate(named, POINT, element, [
    points(fullName, relativeName),
  ]),
  'addresses of networks': certificate(named, POINT, element, [
    sequence(identifier('2b06010505070107'), element(1, Buffer.from([0xff])), element(4, sequence())),
  ]),
  BER: certificate(named, POINT, inBer),
  'no length': certificate(named, POINT, withoutLength),
};

/** One that browsers can read. */
export const USUAL_CERTIFICATE = certificate(named, POINT, element, [points(fullName)]);
