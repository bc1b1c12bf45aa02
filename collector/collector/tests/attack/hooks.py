"""How Schemathesis sends protocol buffers: any bytes."""

import schemathesis


@schemathesis.serializer("application/x-protobuf")
def protocol_buffer(context, value):
    if isinstance(value, bytes):
        return value
    return str(value).encode(errors="surrogatepass")
