// The source mapping URLs of the scripts that an isolate compiles. They may be data: URLs with whole source maps.

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "handles.h"

// Belongs to the isolate's thread.
struct SelfprofMappingUrls {
  v8::Isolate* isolate;
  size_t max_scripts;
  // The script of the last function that was compiled. The next one is often of the same script.
  int last_script = v8::UnboundScript::kNoScriptId;
  // The handles of new scripts keep the URLs alive, because it becomes known only later whether the scripts were
  // sampled.
  std::unordered_map<int, v8::Global<v8::String>> urls = {};
  // Whether the URLs of collected scripts were removed since the last ageing.
  bool is_swept = false;
  // The scripts since the last ageing, and those since the one before it.
  std::vector<int> new_scripts = {};
  std::vector<int> old_scripts = {};

  void Add(int script_id, v8::Local<v8::String> url) {
    if (urls.size() >= max_scripts) {
      // Not for each script, or compiling many would take quadratic time.
      if (!is_swept) std::erase_if(urls, [](const auto& entry) { return entry.second.IsEmpty(); });
      is_swept = true;
      if (urls.size() >= max_scripts) return;
    }
    urls[script_id].Reset(isolate, url);
    new_scripts.push_back(script_id);
  }

  void Age() {
    for (const int script_id : old_scripts) {
      const auto found = urls.find(script_id);
      if (found != urls.end() && !found->second.IsEmpty()) found->second.SetWeak();
    }
    is_swept = false;
    old_scripts = std::move(new_scripts);
    new_scripts.clear();
  }

  v8::Local<v8::String> Get(int script_id) const {
    const auto found = urls.find(script_id);
    return found == urls.end() ? v8::Local<v8::String>() : found->second.Get(isolate);
  }
};

namespace {

// V8 passes no data to the handler.
thread_local SelfprofMappingUrls* watching = nullptr;

// V8 calls this for each piece of code that it adds, moves or removes. It may not allocate on V8's heap. Code is moved
// by threads of the garbage collector, too.
void OnCode(const v8::JitCodeEvent* event) {
  if (event->type != v8::JitCodeEvent::CODE_ADDED || event->script.IsEmpty() || watching == nullptr) return;
  v8::HandleScope scope(event->isolate);
  v8::Local<v8::UnboundScript> script = event->script;
  const int id = script->GetId();
  if (id == watching->last_script) return;
  watching->last_script = id;
  v8::Local<v8::Value> url = script->GetSourceMappingURL();
  if (url.IsEmpty() || !url->IsString() || url.As<v8::String>()->Length() == 0 || watching->urls.contains(id)) return;
  watching->Add(id, url.As<v8::String>());
}

}  // namespace

// JS thread. Begins to note the URLs of scripts that are compiled from now on, of `max_scripts` scripts at most. Null
// when this thread does so already. Lives until selfprof_mapping_urls_delete.
SELFPROF_API SelfprofMappingUrls* selfprof_mapping_urls_new(v8::Isolate* isolate, size_t max_scripts) noexcept {
  if (watching != nullptr) return nullptr;
  watching = new SelfprofMappingUrls{.isolate = isolate, .max_scripts = max_scripts};
  isolate->SetJitCodeEventHandler(v8::kJitCodeEventDefault, OnCode);
  return watching;
}

// JS thread, before the isolate ends.
SELFPROF_API void selfprof_mapping_urls_delete(SelfprofMappingUrls* urls) noexcept {
  urls->isolate->SetJitCodeEventHandler(v8::kJitCodeEventDefault, nullptr);
  watching = nullptr;
  delete urls;
}

// JS thread. URLs that were there at the previous call already no longer stay alive when their scripts are gone.
SELFPROF_API void selfprof_mapping_urls_age(SelfprofMappingUrls* urls) noexcept { urls->Age(); }

// JS thread. A script's URL stays alive until selfprof_mapping_url_forget.
SELFPROF_API void selfprof_mapping_url_keep(SelfprofMappingUrls* urls, int32_t script_id) noexcept {
  const auto found = urls->urls.find(script_id);
  if (found == urls->urls.end()) return;
  // The script may have been collected: then V8 has emptied the handle.
  if (found->second.IsEmpty()) {
    urls->urls.erase(found);
    return;
  }
  found->second.ClearWeak();
  std::erase(urls->new_scripts, script_id);
  std::erase(urls->old_scripts, script_id);
}

// JS thread. A script's URL is no longer needed.
SELFPROF_API void selfprof_mapping_url_forget(SelfprofMappingUrls* urls, int32_t script_id) noexcept {
  urls->urls.erase(script_id);
}

// JS thread. The length of a script's URL in characters; 0 when it is not known.
SELFPROF_API uint32_t selfprof_mapping_url_length(const SelfprofMappingUrls* urls, int32_t script_id,
                                                  bool* is_one_byte) noexcept {
  v8::HandleScope scope(urls->isolate);
  v8::Local<v8::String> url = urls->Get(script_id);
  if (url.IsEmpty()) return 0;
  *is_one_byte = url->IsOneByte();
  return static_cast<uint32_t>(url->Length());
}

// JS thread. Copies some characters of a script's URL: Latin-1 if it is_one_byte, otherwise UTF-16. Returns false when
// it is gone.
SELFPROF_API bool selfprof_mapping_url_copy(const SelfprofMappingUrls* urls, int32_t script_id, uint32_t from,
                                            uint32_t count, bool is_one_byte, void* to) noexcept {
  v8::HandleScope scope(urls->isolate);
  v8::Local<v8::String> url = urls->Get(script_id);
  if (url.IsEmpty()) return false;
  if (is_one_byte) {
    selfprof::CopyLatin1(urls->isolate, url, from, count, static_cast<uint8_t*>(to));
  } else {
    selfprof::CopyUtf16(urls->isolate, url, from, count, static_cast<uint16_t*>(to));
  }
  return true;
}
