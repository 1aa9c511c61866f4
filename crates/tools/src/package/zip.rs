//! ZIP archives, strict: what two programs could read in two ways is refused. The same files give the same bytes.
//! Our own, since the usual crate keeps entries in a map, where a second entry of a name is lost unseen.

use super::error::{PackageError, entry};
use super::names::{self, PathCollisions};
use std::collections::BTreeMap;

const MAX_ARCHIVE_BYTES: usize = 20 << 20;
const MAX_ENTRIES: usize = 500;
const MAX_FILE_BYTES: usize = 5 << 20;
/// Bytes of all files together.
const MAX_BYTES: usize = 20 << 20;
/// How many times larger than in the archive a file may be.
const MAX_RATIO: usize = 200;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Flags: encrypted, strongly encrypted, header masked.
const ENCRYPTED: u16 = 1 | (1 << 6) | (1 << 13);
/// Flag: sizes follow the data.
const DESCRIPTOR: u16 = 1 << 3;
/// Signature of the sizes that follow the data; many programs omit it.
const DATA_DESCRIPTOR: u32 = 0x0807_4b50;
/// Below this size a high ratio is harmless.
const RATIO_MIN_BYTES: usize = 64 << 10;
/// Extra field: the name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;

struct Entry<'a> {
    name: &'a str,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    mode: u32,
    header: usize,
}

impl Entry<'_> {
    /// Whether these are its checksum, its packed and its unpacked size.
    fn has_sizes(&self, told: &[u8]) -> bool {
        (u32_in(told, 0), size_in(told, 4), size_in(told, 8)) == (self.crc, self.packed, self.size)
    }
}

/// The record of `N` bytes that begins there.
fn record<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}

fn u16_in(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

fn u32_in(record: &[u8], at: usize) -> u32 {
    u32::from(u16_in(record, at)) | u32::from(u16_in(record, at + 2)) << 16
}

fn length_in(record: &[u8], at: usize) -> usize {
    usize::from(u16_in(record, at))
}

fn size_in(record: &[u8], at: usize) -> usize {
    usize::try_from(u32_in(record, at)).unwrap_or(usize::MAX)
}

fn archive_error(what: &str) -> PackageError {
    PackageError::Archive(what.to_owned())
}

fn too_large(what: String, limit: String) -> PackageError {
    PackageError::TooLarge { what, limit }
}

/// Unpacks an archive to path and content, without folders and files that systems add.
pub(crate) fn unpack(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, PackageError> {
    if bytes.len() > MAX_ARCHIVE_BYTES {
        let what = format!("the archive has {} bytes", bytes.len());
        return Err(too_large(what, format!("{MAX_ARCHIVE_BYTES} bytes")));
    }
    let (place, count) = directory(bytes)?;
    if count > MAX_ENTRIES {
        return Err(too_large(format!("the archive has {count} entries"), format!("{MAX_ENTRIES} entries")));
    }
    let entries = entries(bytes, &place, count)?;
    let (mut seen, mut total) = (PathCollisions::default(), 0_usize);
    for one in &entries {
        check_entry(one)?;
        seen.add(one.name, one.name.ends_with('/'))?;
        total = total.saturating_add(one.size);
    }
    if total > MAX_BYTES {
        return Err(too_large(format!("its files have {total} bytes"), format!("{MAX_BYTES} bytes")));
    }
    let mut files = BTreeMap::new();
    let mut spans = Vec::new();
    for one in &entries {
        let data = data_range(bytes, one, place.start)?;
        spans.push((one.header, entry_end(bytes, one, data.end)?, one.name));
        if one.name.ends_with('/') || names::is_os_file(one.name) {
            continue;
        }
        files.insert(one.name.to_owned(), unpack_entry(&bytes[data], one)?);
    }
    spans.sort_unstable();
    check_no_gaps(&spans, place.start)?;
    Ok(files)
}

/// Refuses bytes before, between or behind entries, which other programs might read.
fn check_no_gaps(spans: &[(usize, usize, &str)], directory: usize) -> Result<(), PackageError> {
    let mut at = 0;
    for (from, to, name) in spans {
        if *from < at {
            return Err(entry(name, "shares its bytes with another entry, as bombs do; zip the folder again"));
        }
        if *from > at {
            return Err(entry(name, "comes after bytes that belong to no entry; zip the folder again"));
        }
        at = *to;
    }
    if at != directory {
        return Err(archive_error("it holds bytes that belong to no entry; zip the folder again"));
    }
    Ok(())
}

/// Range of the central directory, and its number of entries.
fn directory(bytes: &[u8]) -> Result<(std::ops::Range<usize>, usize), PackageError> {
    let last = bytes.len().checked_sub(END_LEN).ok_or_else(|| archive_error("it is too short"))?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let end = (first..=last).rev().find_map(|at| {
        let end = record::<END_LEN>(bytes, at)?;
        (u32_in(end, 0) == END && at + END_LEN + length_in(end, 20) == bytes.len()).then_some((at, end))
    });
    let (at, end) = end.ok_or_else(|| archive_error("it has no end record"))?;
    let [disk, other, here, count] = [4, 6, 8, 10].map(|field| u16_in(end, field));
    let (size, start) = (size_in(end, 12), size_in(end, 16));
    if count == u16::MAX || u32::try_from(start) == Ok(u32::MAX) {
        return Err(archive_error("it is in the ZIP64 form, which no package needs"));
    }
    if disk != 0 || other != 0 || here != count {
        return Err(archive_error("it is one part of several"));
    }
    if start.checked_add(size) != Some(at) {
        return Err(archive_error("its directory isn't where its end record says"));
    }
    Ok((start..at, usize::from(count)))
}

fn entries<'a>(bytes: &'a [u8], place: &std::ops::Range<usize>, count: usize) -> Result<Vec<Entry<'a>>, PackageError> {
    let cut = || archive_error("its directory is cut");
    let (mut at, mut all) = (place.start, Vec::new());
    for _ in 0..count {
        let header = record::<CENTRAL_LEN>(bytes, at).filter(|header| u32_in(*header, 0) == CENTRAL).ok_or_else(cut)?;
        let [name, extra, comment] = [28, 30, 32].map(|field| length_in(header, field));
        let raw = bytes.get(at + CENTRAL_LEN..at + CENTRAL_LEN + name).ok_or_else(cut)?;
        let name_text = std::str::from_utf8(raw).map_err(|_| {
            let name = String::from_utf8_lossy(raw);
            entry(&name, "has a name that isn't UTF-8; rename the file, or zip it with UTF-8 names")
        })?;
        let from = at + CENTRAL_LEN + name;
        check_single_name(name_text, bytes.get(from..from + extra).ok_or_else(cut)?)?;
        all.push(Entry {
            name: name_text,
            flags: u16_in(header, 8),
            method: u16_in(header, 10),
            crc: u32_in(header, 16),
            packed: size_in(header, 20),
            size: size_in(header, 24),
            mode: u32_in(header, 38) >> 16,
            header: size_in(header, 42),
        });
        at = from + extra + comment;
    }
    if at != place.end {
        return Err(archive_error("its directory has more entries than its end record says"));
    }
    Ok(all)
}

/// Refuses a second name in the extra fields, since programs differ in which one they use.
fn check_single_name(name: &str, extra: &[u8]) -> Result<(), PackageError> {
    let mut at = 0;
    while let Some(header) = record::<4>(extra, at) {
        let end = at + 4 + length_in(header, 2);
        let field = extra.get(at + 4..end);
        if u16_in(header, 0) == UNICODE_PATH && field.and_then(|field| field.get(5..)) != Some(name.as_bytes()) {
            return Err(entry(name, "has two names; zip the folder again"));
        }
        at = end;
    }
    Ok(())
}

/// Checks an entry's description in the directory before anything is unpacked.
fn check_entry(one: &Entry<'_>) -> Result<(), PackageError> {
    names::check_path(one.name)?;
    let refuse = |problem: String| Err(entry(one.name, problem));
    if one.flags & ENCRYPTED != 0 {
        return refuse("is encrypted; zip the folder without a password".into());
    }
    if one.method != STORED && one.method != DEFLATED {
        return refuse(format!("is packed by method {}; zip the folder with the usual one (deflate)", one.method));
    }
    match one.mode & 0o170_000 {
        0 | 0o100_000 | 0o040_000 => {}
        0o120_000 => return refuse("is a symbolic link; put the file itself there".into()),
        _ => return refuse("is no ordinary file; only files and folders are taken".into()),
    }
    if one.name.ends_with('/') {
        if one.size != 0 {
            return refuse("is a folder with content of its own; zip the folder again".into());
        }
        return Ok(());
    }
    if one.size > MAX_FILE_BYTES {
        let what = format!("`{}` has {} bytes", one.name, one.size);
        return Err(too_large(what, format!("{MAX_FILE_BYTES} bytes for a file")));
    }
    if one.size > RATIO_MIN_BYTES && one.size / one.packed.max(1) > MAX_RATIO {
        return refuse(format!("becomes over {MAX_RATIO} times larger when it is unpacked, as bombs do; leave it out"));
    }
    Ok(())
}

/// Range of an entry's data. Its local header must agree with the directory.
fn data_range(bytes: &[u8], one: &Entry<'_>, end: usize) -> Result<std::ops::Range<usize>, PackageError> {
    let at = one.header;
    let differs = || entry(one.name, "is described in two ways within the archive; zip the folder again");
    let header = record::<LOCAL_LEN>(bytes, at).ok_or_else(differs)?;
    let [flags, method] = [6, 8].map(|field| u16_in(header, field));
    let [name, extra] = [26, 28].map(|field| length_in(header, field));
    let told = flags & DESCRIPTOR != 0 || one.has_sizes(&header[14..26]);
    let here = bytes.get(at + LOCAL_LEN..at + LOCAL_LEN + name);
    if u32_in(header, 0) != LOCAL
        || flags & ENCRYPTED != 0
        || flags & DESCRIPTOR != one.flags & DESCRIPTOR
        || method != one.method
        || !told
        || here != Some(one.name.as_bytes())
    {
        return Err(differs());
    }
    let from = at + LOCAL_LEN + name + extra;
    match from.checked_add(one.packed) {
        Some(to) if to <= end => Ok(from..to),
        _ => Err(archive_error("an entry reaches beyond its end")),
    }
}

/// Where an entry ends: with its data, or with the sizes behind them.
fn entry_end(bytes: &[u8], one: &Entry<'_>, data: usize) -> Result<usize, PackageError> {
    if one.flags & DESCRIPTOR == 0 {
        return Ok(data);
    }
    let says = |at: usize| record::<12>(bytes, at).filter(|sizes| one.has_sizes(*sizes)).map(|_| at + 12);
    let marked = record::<4>(bytes, data).filter(|mark| u32_in(*mark, 0) == DATA_DESCRIPTOR);
    marked
        .and_then(|_| says(data + 4))
        .or_else(|| says(data))
        .ok_or_else(|| entry(one.name, "is described in two ways within the archive; zip the folder again"))
}

fn unpack_entry(packed: &[u8], one: &Entry<'_>) -> Result<Vec<u8>, PackageError> {
    let damaged = || entry(one.name, "is damaged; zip the folder again");
    let plain = if one.method == STORED {
        packed.to_vec()
    } else {
        miniz_oxide::inflate::decompress_to_vec_with_limit(packed, one.size).map_err(|_| damaged())?
    };
    if plain.len() != one.size || crc32fast::hash(&plain) != one.crc {
        return Err(damaged());
    }
    Ok(plain)
}

/// 1980-01-01 00:00, the earliest date of the format.
const DATE: u16 = 0x0021;
/// Flag: the name is UTF-8.
const UTF8: u16 = 1 << 11;
/// Made on Unix, by version 2.0 of the format.
const MADE_BY: u16 = 0x0314;
const VERSION_NEEDED: u16 = 20;
/// A regular file, `rw-r--r--`.
const FILE_MODE: u32 = 0o100_644 << 16;
const COMPRESSION_LEVEL: u8 = 6;

fn push_u16(out: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn push_u32(out: &mut Vec<u8>, values: &[u32]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Can't overflow: packages are limited far below.
fn as_u16(size: usize) -> u16 {
    u16::try_from(size).unwrap_or(u16::MAX)
}

fn as_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// A `.skill` archive of `files` (paths inside the package) in the folder `folder`.
pub fn write(folder: &str, files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let name = format!("{folder}/{path}");
        let deflated = miniz_oxide::deflate::compress_to_vec(content, COMPRESSION_LEVEL);
        let (method, packed) =
            if deflated.len() < content.len() { (DEFLATED, deflated.as_slice()) } else { (STORED, content.as_slice()) };
        let header = as_u32(out.len());
        let sizes = [crc32fast::hash(content), as_u32(packed.len()), as_u32(content.len())];
        let length = as_u16(name.len());

        push_u32(&mut out, &[LOCAL]);
        push_u16(&mut out, &[VERSION_NEEDED, UTF8, method, 0, DATE]);
        push_u32(&mut out, &sizes);
        push_u16(&mut out, &[length, 0]);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(packed);

        push_u32(&mut directory, &[CENTRAL]);
        push_u16(&mut directory, &[MADE_BY, VERSION_NEEDED, UTF8, method, 0, DATE]);
        push_u32(&mut directory, &sizes);
        push_u16(&mut directory, &[length, 0, 0, 0, 0]);
        push_u32(&mut directory, &[FILE_MODE, header]);
        directory.extend_from_slice(name.as_bytes());
    }
    let (start, count) = (as_u32(out.len()), as_u16(files.len()));
    out.extend_from_slice(&directory);
    push_u32(&mut out, &[END]);
    push_u16(&mut out, &[0, 0, count, count]);
    push_u32(&mut out, &[as_u32(directory.len()), start]);
    push_u16(&mut out, &[0]);
    out
}
