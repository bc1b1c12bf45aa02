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

// SSL_CTX_set_msg_callback_arg
constexpr int kSetMessageArgument = 16;

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

// Whether OpenSSL may read a message with certificates. `message` begins after its header.
using CheckCertificates = bool (*)(const uint8_t* message, size_t length, int version);

// The thread of the connection, inside a function of OpenSSL: `bytes` is a message before it is read, in OpenSSL's own memory. `check` is a
// CheckCertificates.
void CheckMessage(int is_sent, int version, int type, const void* bytes, size_t length, void* ssl, void* check) {
  if (type != kAlert && type != kHandshake) return;
  uint8_t* message = static_cast<uint8_t*>(const_cast<void*>(bytes));
  constexpr size_t kHeader = 4;
  if (type == kHandshake && !is_sent && length > kHeader && message[0] == kCertificate) {
    const size_t size = length - kHeader;
    // OpenSSL finds it damaged.
    if (!reinterpret_cast<CheckCertificates>(check)(message + kHeader, size, version)) memset(message + kHeader, 0xff, size);
  }
  const uintptr_t count = reinterpret_cast<uintptr_t>(openssl.SSL_get_ex_data(ssl, openssl.count_index)) + 1;
  openssl.SSL_set_ex_data(ssl, openssl.count_index, reinterpret_cast<void*>(count));
  if (count > kMaxMessages) openssl.SSL_set_shutdown(ssl, kShutDown);
}

}  // namespace

// JS thread, inside a native function. `context` is what a SecureContext of Node has as `_external`, and lives as long as that. From now on its
// connections fail if their server sends certificates of more than `certificate_bytes` together, or that do not pass `check`, and end after very many
// messages that are no data. Returns false, and does nothing, if it is no such value, or if Node does not let addons call OpenSSL.
SELFPROF_API bool selfprof_limit_tls(selfprof::Handle context, int32_t certificate_bytes, CheckCertificates check) noexcept {
  v8::Local<v8::Value> value = selfprof::FromHandle<v8::Value>(context);
  if (!value->IsExternal() || !HasOpenSsl()) return false;
  void* found = value.As<v8::External>()->Value();
  if (openssl.SSL_CTX_ctrl(found, kGetMaxCertList, 0, nullptr) != kDefaultMaxCertList) return false;
  openssl.SSL_CTX_ctrl(found, kSetMaxCertList, certificate_bytes, nullptr);
  openssl.SSL_CTX_ctrl(found, kSetMessageArgument, 0, reinterpret_cast<void*>(check));
  openssl.SSL_CTX_set_msg_callback(found, CheckMessage);
  return true;
}
