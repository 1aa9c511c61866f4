//! How many bytes were looked at, so that the tests can hold the parsers to linear time without a
//! clock. Every search over text goes through here.

use std::cell::Cell;

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Bytes looked at on this thread since it began.
pub fn seen() -> u64 {
    SEEN.get()
}

/// `n` more bytes were looked at.
pub(crate) fn count(n: usize) {
    SEEN.set(SEEN.get() + n as u64);
}

/// Where `needle` first stands in `hay`.
pub(crate) fn find(hay: &str, needle: &str) -> Option<usize> {
    let at = memchr::memmem::find(hay.as_bytes(), needle.as_bytes());
    count(at.map_or(hay.len(), |at| at + needle.len()));
    at
}

/// Where one of three bytes first stands in `hay`.
pub(crate) fn find_byte(bytes: [u8; 3], hay: &str) -> Option<usize> {
    let at = memchr::memchr3(bytes[0], bytes[1], bytes[2], hay.as_bytes());
    count(at.map_or(hay.len(), |at| at + 1));
    at
}

/// Where the next line begins in `hay`.
pub(crate) fn line_end(hay: &str) -> Option<usize> {
    let at = memchr::memchr(b'\n', hay.as_bytes());
    count(at.map_or(hay.len(), |at| at + 1));
    at.map(|at| at + 1)
}
