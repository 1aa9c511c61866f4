//! Numbers in bytes, the least byte first; `None` where there are no bytes.

pub(super) fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

pub(super) fn f64_at(bytes: &[u8], at: usize) -> Option<f64> {
    bytes_at(bytes, at).map(f64::from_le_bytes)
}

/// A size or place of 32 bits.
pub(super) fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}

/// A size or place of 64 bits.
pub(super) fn long_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(bytes_at(bytes, at).map(u64::from_le_bytes)?).ok()
}

/// All numbers of 32 bits, one after the other.
pub(super) fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
}

pub(super) fn utf_16(bytes: &[u8]) -> String {
    let units = bytes.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two));
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
