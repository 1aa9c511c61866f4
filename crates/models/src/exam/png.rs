//! A picture of one colour, as small as PNG allows without a compressor.

/// A square of `side` pixels in the colour `rgb`.
pub(super) fn square(side: u16, rgb: [u8; 3]) -> Vec<u8> {
    // Each row begins with the number of its filter: none.
    let mut row = vec![0];
    row.extend(rgb.repeat(usize::from(side)));
    let rows = row.repeat(usize::from(side));
    let mut head = Vec::new();
    head.extend_from_slice(&u32::from(side).to_be_bytes());
    head.extend_from_slice(&u32::from(side).to_be_bytes());
    // Eight bits, true colour, the only compression, filter and order there are.
    head.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, *b"IHDR", &head);
    chunk(&mut png, *b"IDAT", &stored(&rows));
    chunk(&mut png, *b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(0);
    png.extend_from_slice(&length.to_be_bytes());
    let from = png.len();
    png.extend_from_slice(&kind);
    png.extend_from_slice(data);
    let sum = crc(&png[from..]);
    png.extend_from_slice(&sum.to_be_bytes());
}

/// A zlib stream of blocks that are stored as they are.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = data.chunks(usize::from(u16::MAX));
    let last = blocks.len().saturating_sub(1);
    for (n, block) in blocks.enumerate() {
        let length = u16::try_from(block.len()).unwrap_or(0);
        out.push(u8::from(n == last));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&adler(data).to_be_bytes());
    out
}

fn adler(data: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    (b << 16) | a
}

fn crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::{adler, crc, square};

    #[test]
    fn sums_and_form() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler(b"Wikipedia"), 0x11e6_0398);
        let png = square(8, [255, 0, 0]);
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x08\0\0\0\x08"));
        assert!(png.ends_with(&[0xae, 0x42, 0x60, 0x82]));
    }
}
