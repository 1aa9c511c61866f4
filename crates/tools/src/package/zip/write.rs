//! From files to an archive: the same bytes for the same files, whenever and wherever.

use super::{CENTRAL, DEFLATED, END, LOCAL, STORED};
use std::collections::BTreeMap;

/// 1980-01-01 00:00, the earliest that the format knows.
const DATE: u16 = 0x0021;
/// Flag: the name is UTF-8.
const UTF8: u16 = 1 << 11;
/// Made on Unix, by version 2.0 of the format.
const MADE_BY: u16 = 0x0314;
const NEEDS: u16 = 20;
/// A regular file, `rw-r--r--`.
const MODE: u32 = 0o100_644 << 16;
const LEVEL: u8 = 6;

fn put16(out: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn put32(out: &mut Vec<u8>, values: &[u32]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Sizes beyond the format can't occur: packages are limited far below.
fn short(size: usize) -> u16 {
    u16::try_from(size).unwrap_or(u16::MAX)
}

fn long(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// A `.skill` archive of `files` (paths inside the package) in the folder `folder`.
pub fn write(folder: &str, files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let name = format!("{folder}/{path}");
        let deflated = miniz_oxide::deflate::compress_to_vec(content, LEVEL);
        let (method, packed) =
            if deflated.len() < content.len() { (DEFLATED, deflated.as_slice()) } else { (STORED, content.as_slice()) };
        let header = long(out.len());
        let sizes = [crc32fast::hash(content), long(packed.len()), long(content.len())];
        let length = short(name.len());

        put32(&mut out, &[LOCAL]);
        put16(&mut out, &[NEEDS, UTF8, method, 0, DATE]);
        put32(&mut out, &sizes);
        put16(&mut out, &[length, 0]);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(packed);

        put32(&mut directory, &[CENTRAL]);
        put16(&mut directory, &[MADE_BY, NEEDS, UTF8, method, 0, DATE]);
        put32(&mut directory, &sizes);
        put16(&mut directory, &[length, 0, 0, 0, 0]);
        put32(&mut directory, &[MODE, header]);
        directory.extend_from_slice(name.as_bytes());
    }
    let (start, count) = (long(out.len()), short(files.len()));
    out.extend_from_slice(&directory);
    put32(&mut out, &[END]);
    put16(&mut out, &[0, 0, count, count]);
    put32(&mut out, &[long(directory.len()), start]);
    put16(&mut out, &[0]);
    out
}
