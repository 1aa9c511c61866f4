use super::numbers::{u16_at, u32_at};

const MOST_PAGES: usize = 10_000;

/// Where the pages of a TIFF begin; in order.
pub(crate) fn tiff_pages(bytes: &[u8]) -> Vec<u32> {
    let is_little = bytes.starts_with(b"II");
    let two = |at: usize| u16_at(bytes, at).map(|two| if is_little { two } else { two.swap_bytes() });
    let four = |at: usize| u32_at(bytes, at).map(|four| if is_little { four } else { four.swap_bytes() });
    let mut pages = Vec::new();
    let mut next = four(4);
    while let Some(at) = next.filter(|at| *at > 0 && !pages.contains(at) && pages.len() < MOST_PAGES) {
        pages.push(at);
        let entries = two(at as usize).unwrap_or(0);
        next = four(at as usize + 2 + 12 * usize::from(entries));
    }
    pages
}
