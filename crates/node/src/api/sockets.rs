//! The sockets of pages.

use napi::bindgen_prelude::Int32Array;
use napi_derive::napi;

/// The first of these file descriptors that can be read without waiting, or whose other end is closed, counted from 0; -1 if there is none.
#[napi(catch_unwind)]
pub fn find_readable(files: Int32Array) -> i32 {
    let mut polled: Vec<libc::pollfd> =
        files.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    // SAFETY: the entries live for the call, which only writes their `revents`.
    let count = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 0) };
    if count <= 0 {
        return -1;
    }
    let is_ready = |polled: &libc::pollfd| polled.revents != 0 && polled.revents & libc::POLLNVAL == 0;
    polled.iter().position(is_ready).map_or(-1, |at| at as i32)
}
