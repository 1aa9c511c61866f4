//! Counts the bytes that are looked at, so that tests can check for linear time. Every search goes through here.

use std::cell::Cell;

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

pub fn seen() -> u64 {
    SEEN.get()
}

pub(crate) fn count(n: usize) {
    SEEN.set(SEEN.get() + n as u64);
}

pub(crate) fn find(hay: &str, needle: &str) -> Option<usize> {
    let at = memchr::memmem::find(hay.as_bytes(), needle.as_bytes());
    count(at.map_or(hay.len(), |at| at + needle.len()));
    at
}

pub(crate) fn find_byte(bytes: [u8; 3], hay: &str) -> Option<usize> {
    let at = memchr::memchr3(bytes[0], bytes[1], bytes[2], hay.as_bytes());
    count(at.map_or(hay.len(), |at| at + 1));
    at
}

pub(crate) fn line_end(hay: &str) -> Option<usize> {
    let at = memchr::memchr(b'\n', hay.as_bytes());
    count(at.map_or(hay.len(), |at| at + 1));
    at.map(|at| at + 1)
}
