//! RTF as mails have it packed.

use super::super::numbers::u32_at;

const PACKED: u32 = 0x7546_5a4c;
const PLAIN: u32 = 0x414c_454d;
const RING: usize = 4096;
/// What the ring is filled with at first.
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Packed RTF of a mail, `None` if it is none. It grows by less than nine times.
pub(in super::super) fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let kind = u32_at(packed, 8)?;
    let data = packed.get(16..)?;
    match kind {
        PLAIN => return Some(data.to_vec()),
        PACKED => {}
        _ => return None,
    }
    let mut ring = [0_u8; RING];
    ring[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
    let (mut write, mut out, mut at) = (DICTIONARY.len(), Vec::new(), 0);
    while let Some(flags) = data.get(at) {
        at += 1;
        for bit in 0..8 {
            if flags & (1 << bit) == 0 {
                let Some(byte) = data.get(at) else { return Some(out) };
                at += 1;
                ring[write] = *byte;
                write = (write + 1) % RING;
                out.push(*byte);
                continue;
            }
            let Some(pair) = data.get(at..at + 2) else { return Some(out) };
            at += 2;
            let reference = usize::from(u16::from_be_bytes([pair[0], pair[1]]));
            let (offset, length) = (reference >> 4, (reference & 15) + 2);
            if offset == write {
                return Some(out);
            }
            for step in 0..length {
                let byte = ring[(offset + step) % RING];
                ring[write] = byte;
                write = (write + 1) % RING;
                out.push(byte);
            }
        }
    }
    Some(out)
}
