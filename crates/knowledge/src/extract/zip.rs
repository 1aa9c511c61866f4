//! ZIP archives as office programs write them. Sizes are counted while unpacking; those that an archive declares count for
//! nothing.

use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::numbers::{long_at, size_at, u16_at, u32_at};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use std::collections::BTreeMap;
use steward_sandbox::text::decode;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const PLACE_64: u32 = 0x0706_4b50;
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;
const PLACE_64_LEN: usize = 20;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;
/// Extra field: sizes and places of more than 32 bits.
const LARGE: u16 = 1;

struct Entry {
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    header: usize,
}

pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    budget: &'a Budget<'a>,
    entries: BTreeMap<String, Entry>,
}

fn cut() -> ExtractError {
    ExtractError::broken("its list of parts is missing or cut off")
}

impl<'a> Archive<'a> {
    pub fn open(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Self> {
        let (count, start) = directory(bytes).ok_or_else(cut)?;
        let most = budget.limits.members;
        if count > most {
            return Err(ExtractError::TooLarge(format!("it has {count} parts, more than {most}")));
        }
        let (mut at, mut entries) = (start, BTreeMap::new());
        for _ in 0..count {
            let (name, entry, next) = read_entry(bytes, at).ok_or_else(cut)?;
            entries.entry(name).or_insert(entry);
            at = next;
        }
        Ok(Self { bytes, budget, entries })
    }

    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Office programs don't tell small from capital letters in the names of parts.
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name).or_else(|| {
            let same = |other: &&String| other.len() == name.len() && other.eq_ignore_ascii_case(name);
            self.entries.keys().find(same).and_then(|name| self.entries.get(name))
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// `None` if there is no such part.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.entry(name) else { return Ok(None) };
        if entry.flags & ENCRYPTED != 0 {
            return Err(ExtractError::PasswordProtected);
        }
        let packed = self.packed(entry).ok_or_else(|| ExtractError::broken(format!("its part `{name}` is cut off")))?;
        let damaged = || ExtractError::broken(format!("its part `{name}` can't be unpacked"));
        let plain = match entry.method {
            STORED => {
                self.budget.unpack(packed.len())?;
                packed.to_vec()
            }
            DEFLATED => match decompress_to_vec_with_limit(packed, self.budget.room()) {
                Ok(plain) => {
                    self.budget.unpack(plain.len())?;
                    plain
                }
                Err(error) if error.status == TINFLStatus::HasMoreOutput => {
                    self.budget.unpack(usize::MAX)?;
                    return Err(damaged());
                }
                Err(_) => return Err(damaged()),
            },
            method => {
                return Err(ExtractError::broken(format!(
                    "its part `{name}` is packed by method {method}, which is unusual"
                )));
            }
        };
        if crc32fast::hash(&plain) != entry.crc {
            return Err(damaged());
        }
        Ok(Some(plain))
    }

    /// The text of a part that the format can't be without.
    pub fn need(&self, name: &str) -> Result<String> {
        self.text(name)?.ok_or_else(|| ExtractError::broken(format!("its part `{name}` is missing")))
    }

    /// The text of a part, whatever its encoding; `None` if there is no such part.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let decoded = decode(bytes).ok_or_else(|| ExtractError::broken(format!("its part `{name}` is no text")))?;
        Ok(Some(decoded.text))
    }

    fn packed(&self, entry: &Entry) -> Option<&'a [u8]> {
        let at = entry.header;
        if u32_at(self.bytes, at)? != LOCAL {
            return None;
        }
        let names = usize::from(u16_at(self.bytes, at + 26)?) + usize::from(u16_at(self.bytes, at + 28)?);
        let from = at.checked_add(LOCAL_LEN)?.checked_add(names)?;
        self.bytes.get(from..from.checked_add(entry.packed)?)
    }
}

/// How many entries there are, and where they begin.
fn directory(bytes: &[u8]) -> Option<(usize, usize)> {
    let last = bytes.len().checked_sub(END_LEN)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let end = (first..=last).rev().find(|at| u32_at(bytes, *at) == Some(END))?;
    let (count, start) = (usize::from(u16_at(bytes, end + 10)?), size_at(bytes, end + 16)?);
    let place = end.checked_sub(PLACE_64_LEN).filter(|at| u32_at(bytes, *at) == Some(PLACE_64));
    if let Some(record) = place.and_then(|at| long_at(bytes, at + 8)).filter(|at| u32_at(bytes, *at) == Some(END_64)) {
        return Some((long_at(bytes, record.checked_add(32)?)?, long_at(bytes, record.checked_add(48)?)?));
    }
    Some((count, start))
}

fn read_entry(bytes: &[u8], at: usize) -> Option<(String, Entry, usize)> {
    if u32_at(bytes, at)? != CENTRAL {
        return None;
    }
    let length = |offset: usize| u16_at(bytes, at + offset).map(usize::from);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let names = at + CENTRAL_LEN;
    let text = String::from_utf8_lossy(bytes.get(names..names + name)?).replace('\\', "/");
    let mut entry = Entry {
        flags: u16_at(bytes, at + 8)?,
        method: u16_at(bytes, at + 10)?,
        crc: u32_at(bytes, at + 16)?,
        packed: size_at(bytes, at + 20)?,
        header: size_at(bytes, at + 42)?,
    };
    let declared = u32_at(bytes, at + 24)?;
    read_large(bytes.get(names + name..names + name + extra)?, declared, &mut entry);
    Some((text, entry, names + name + extra + comment))
}

/// The field has only the numbers that have no room in the entry itself, in this order.
fn read_large(extra: &[u8], declared: u32, entry: &mut Entry) {
    const NONE: usize = u32::MAX as usize;
    let mut at = 0;
    while let (Some(id), Some(length)) = (u16_at(extra, at), u16_at(extra, at + 2)) {
        let mut from = at + 4;
        if id == LARGE {
            from += if declared == u32::MAX { 8 } else { 0 };
            for field in [&mut entry.packed, &mut entry.header] {
                if *field == NONE {
                    *field = long_at(extra, from).unwrap_or(NONE);
                    from += 8;
                }
            }
        }
        at += 4 + usize::from(length);
    }
}
