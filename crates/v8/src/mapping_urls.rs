//! The source mapping URLs of scripts, among them those of scripts that exist in memory only.

use std::ffi::c_void;
use std::ptr::NonNull;

use crate::{Environment, ffi};

/// At most this many scripts with a source mapping URL are known at a time.
const MAX_SCRIPTS: usize = 1 << 14;

/// The source mapping URLs of the scripts that a thread compiles. Belongs to the isolate's thread, and must be dropped
/// before the isolate ends.
///
/// V8 tells a listener for generated code which script a function belongs to. That is the only public way to a script's
/// comments that needs neither the script's functions nor a search of the heap.
#[derive(Debug)]
pub struct MappingUrls {
    urls: NonNull<ffi::MappingUrls>,
}

/// A URL that is copied in parts, because a `data:` URL may have megabytes.
#[derive(Debug)]
pub struct UrlCopy {
    script_id: i32,
    length: usize,
    characters: Characters,
}

#[derive(Debug)]
enum Characters {
    Latin1(Vec<u8>),
    Utf16(Vec<u16>),
}

impl MappingUrls {
    /// Knows the URLs of scripts that are compiled from now on. `None` if this thread has one already.
    #[must_use]
    pub fn new(environment: &Environment) -> Option<Self> {
        // SAFETY: the isolate is this thread's and lives as long as its environment.
        let urls = unsafe { ffi::selfprof_mapping_urls_new(environment.isolate().as_ptr(), MAX_SCRIPTS) };
        NonNull::new(urls).map(|urls| Self { urls })
    }

    /// URLs that were there at the previous call already are from now on forgotten with their scripts.
    pub fn age(&mut self) {
        // SAFETY: the thread is that of the isolate, which is alive.
        unsafe { ffi::selfprof_mapping_urls_age(self.urls.as_ptr()) };
    }

    /// The URL of a script stays until it is [forgotten](Self::forget).
    pub fn keep(&mut self, script_id: i32) {
        // SAFETY: as above.
        unsafe { ffi::selfprof_mapping_url_keep(self.urls.as_ptr(), script_id) };
    }

    /// The URL of a script is no longer needed.
    pub fn forget(&mut self, script_id: i32) {
        // SAFETY: as above.
        unsafe { ffi::selfprof_mapping_url_forget(self.urls.as_ptr(), script_id) };
    }

    /// Begins to copy the URL of a script. `None` if it has none, or is gone.
    #[must_use]
    pub fn begin_copy(&self, script_id: i32) -> Option<UrlCopy> {
        let mut is_one_byte = false;
        // SAFETY: as above.
        let length =
            unsafe { ffi::selfprof_mapping_url_length(self.urls.as_ptr(), script_id, &mut is_one_byte) };
        let length = length as usize;
        let characters =
            if is_one_byte { Characters::Latin1(Vec::new()) } else { Characters::Utf16(Vec::new()) };
        (length > 0).then_some(UrlCopy { script_id, length, characters })
    }

    /// Copies at most `count` more characters. Returns false if the script is gone.
    pub fn copy_more(&self, copy: &mut UrlCopy, count: usize) -> bool {
        let count = count.min(copy.missing());
        match &mut copy.characters {
            Characters::Latin1(text) => self.append(copy.script_id, text, copy.length, count, true),
            Characters::Utf16(text) => self.append(copy.script_id, text, copy.length, count, false),
        }
    }

    fn append<T>(
        &self,
        script_id: i32,
        text: &mut Vec<T>,
        length: usize,
        count: usize,
        is_one_byte: bool,
    ) -> bool {
        let from = text.len();
        text.reserve_exact(length - from);
        let (start, number) = (from as u32, count as u32);
        let to = text.spare_capacity_mut().as_mut_ptr().cast::<c_void>();
        // SAFETY: as above. There is room for `length - from` characters, which are `count` or more; their size is that
        // of `T`. The shim has written `count` of them when it returns true.
        unsafe {
            let urls = self.urls.as_ptr();
            let copied = ffi::selfprof_mapping_url_copy(urls, script_id, start, number, is_one_byte, to);
            if copied {
                text.set_len(from + count);
            }
            copied
        }
    }
}

impl Drop for MappingUrls {
    fn drop(&mut self) {
        // SAFETY: the thread is that of the isolate, which is alive; nothing uses the pointer after this.
        unsafe { ffi::selfprof_mapping_urls_delete(self.urls.as_ptr()) };
    }
}

impl UrlCopy {
    /// The length of the URL, in characters.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The number of characters that are not copied yet.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.length
            - match &self.characters {
                Characters::Latin1(text) => text.len(),
                Characters::Utf16(text) => text.len(),
            }
    }

    /// What was copied. Any thread may convert it.
    #[must_use]
    pub fn into_text(self) -> String {
        match self.characters {
            Characters::Latin1(text) if text.is_ascii() => String::from_utf8(text).unwrap_or_default(),
            Characters::Latin1(text) => text.into_iter().map(char::from).collect(),
            Characters::Utf16(text) => String::from_utf16_lossy(&text),
        }
    }
}
