const MOST_PAGES: usize = 10_000;

/// Where the pages of a TIFF begin; in order.
pub(crate) fn tiff_pages(bytes: &[u8]) -> Vec<u32> {
    let is_little = bytes.starts_with(b"II");
    let two = |at: usize| {
        let two = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    };
    let four = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if is_little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let mut pages = Vec::new();
    let mut next = four(4);
    while let Some(at) = next.filter(|at| *at > 0 && !pages.contains(at) && pages.len() < MOST_PAGES) {
        pages.push(at);
        let entries = two(at as usize).unwrap_or(0);
        next = four(at as usize + 2 + 12 * usize::from(entries));
    }
    pages
}
