// What servers may send over TLS beside data. OpenSSL, which is a part of Node, handles it in functions that nothing interrupts.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "handles.h"

namespace {

// Of <openssl/ssl.h>. The functions are called where Node has them, so that an addon also loads where it does not.
struct OpenSsl {
  using Message = void (*)(int is_sent, int version, int type, const void* bytes, size_t length, void* ssl, void* argument);

  long (*SSL_CTX_ctrl)(void* context, int command, long number, void* pointer);
  void (*SSL_CTX_set_msg_callback)(void* context, Message callback);
  int (*CRYPTO_get_ex_new_index)(int kind, long number, void* pointer, void* made, void* copied, void* freed);
  void* (*SSL_get_ex_data)(const void* ssl, int index);
  int (*SSL_set_ex_data)(void* ssl, int index, void* data);
  void (*SSL_set_shutdown)(void* ssl, int mode);

  // Where the number of a connection's messages is.
  int count_index;

  template <typename Function>
  bool Find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
  }

  bool FindAll() {
    if (!Find(SSL_CTX_ctrl, "SSL_CTX_ctrl") || !Find(SSL_CTX_set_msg_callback, "SSL_CTX_set_msg_callback") ||
        !Find(CRYPTO_get_ex_new_index, "CRYPTO_get_ex_new_index") || !Find(SSL_get_ex_data, "SSL_get_ex_data") ||
        !Find(SSL_set_ex_data, "SSL_set_ex_data") || !Find(SSL_set_shutdown, "SSL_set_shutdown"))
      return false;
    constexpr int kIndexOfSsl = 0;
    count_index = CRYPTO_get_ex_new_index(kIndexOfSsl, 0, nullptr, nullptr, nullptr, nullptr);
    return count_index >= 0;
  }
};

// Any thread, after HasOpenSsl. It lives as long as the process.
OpenSsl openssl;

// Any thread.
bool HasOpenSsl() {
  static const bool has_all = openssl.FindAll();
  return has_all;
}

// SSL_CTX_get_max_cert_list, SSL_CTX_set_max_cert_list and SSL_MAX_CERT_LIST_DEFAULT
constexpr int kGetMaxCertList = 50;
constexpr int kSetMaxCertList = 51;
constexpr long kDefaultMaxCertList = 100 * 1024;

// SSL3_RT_ALERT and SSL3_RT_HANDSHAKE
constexpr int kAlert = 21;
constexpr int kHandshake = 22;

// SSL_SENT_SHUTDOWN and SSL_RECEIVED_SHUTDOWN: what comes now is thrown away.
constexpr int kShutDown = 3;

// How many messages of handshakes, and alerts, a connection may have in both directions. A handshake has about ten, and few servers send more than
// two tickets; but thousands fit in a record.
constexpr uintptr_t kMaxMessages = 100;

// SSL3_MT_CERTIFICATE
constexpr uint8_t kCertificate = 11;

// How elliptic curves begin in certificates that a server makes up, rather than name: 1.2.840.10045.1.1 and 1.2.840.10045.1.2. A point of one in 400
// bytes can take OpenSSL a third of a second to read. No authority signs them.
constexpr uint8_t kMadeUpCurve[] = {0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01};

// Has OpenSSL find a message damaged, before it reads it, if it has such a curve.
void RefuseMadeUpCurves(uint8_t* message, size_t length) {
  constexpr size_t kHeader = 4;
  constexpr size_t kSize = sizeof kMadeUpCurve;
  if (length <= kHeader || message[0] != kCertificate) return;
  for (size_t at = kHeader; at + kSize < length; ++at) {
    const uint8_t kind = message[at + kSize];
    if (memcmp(message + at, kMadeUpCurve, kSize) != 0 || (kind != 1 && kind != 2)) continue;
    memset(message + kHeader, 0xff, length - kHeader);
    return;
  }
}

// The thread of the connection, inside a function of OpenSSL: `bytes` is a message before it is read, in OpenSSL's own memory.
void CheckMessage(int is_sent, int, int type, const void* bytes, size_t length, void* ssl, void*) {
  if (type != kAlert && type != kHandshake) return;
  if (type == kHandshake && !is_sent)
    RefuseMadeUpCurves(static_cast<uint8_t*>(const_cast<void*>(bytes)), length);
  const uintptr_t count = reinterpret_cast<uintptr_t>(openssl.SSL_get_ex_data(ssl, openssl.count_index)) + 1;
  openssl.SSL_set_ex_data(ssl, openssl.count_index, reinterpret_cast<void*>(count));
  if (count > kMaxMessages) openssl.SSL_set_shutdown(ssl, kShutDown);
}

}  // namespace

// JS thread, inside a native function. `context` is what a SecureContext of Node has as `_external`, and lives as long as that. From now on its
// connections fail if their server sends certificates of more than `certificate_bytes` together, or with curves of its own, and end after very many
// messages that are no data. Returns false, and does nothing, if it is no such value, or if Node does not let addons call OpenSSL.
SELFPROF_API bool selfprof_limit_tls(selfprof::Handle context, int32_t certificate_bytes) noexcept {
  v8::Local<v8::Value> value = selfprof::FromHandle<v8::Value>(context);
  if (!value->IsExternal() || !HasOpenSsl()) return false;
  void* found = value.As<v8::External>()->Value();
  if (openssl.SSL_CTX_ctrl(found, kGetMaxCertList, 0, nullptr) != kDefaultMaxCertList) return false;
  openssl.SSL_CTX_ctrl(found, kSetMaxCertList, certificate_bytes, nullptr);
  openssl.SSL_CTX_set_msg_callback(found, CheckMessage);
  return true;
}
