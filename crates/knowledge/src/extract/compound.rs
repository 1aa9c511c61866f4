//! Compound files, which hold older office documents, saved mails, and documents with a password: streams in folders.

use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::numbers::{size_at, u16_at, u32_at, u32s, utf_16};
use std::collections::BTreeMap;

pub(super) const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
const HEADER: usize = 512;
const IN_HEADER: usize = 109;
const ENTRY: usize = 128;
/// Numbers of sectors from here on have meanings of their own.
const LAST: u32 = 0xffff_fffa;
const NO_ENTRY: u32 = u32::MAX;
const STREAM: u8 = 2;
const ROOT: u8 = 5;

#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    size: usize,
}

pub(super) struct Compound<'a> {
    bytes: &'a [u8],
    budget: &'a Budget<'a>,
    sector: usize,
    mini_sector: usize,
    /// Streams below this size are in the mini stream.
    mini_below: usize,
    table: Vec<u32>,
    mini_table: Vec<u32>,
    mini_stream: Vec<u8>,
    /// By their paths, folders separated by `/`.
    streams: BTreeMap<String, Entry>,
}

fn cut() -> ExtractError {
    ExtractError::broken("its table of contents is damaged or cut off")
}

impl<'a> Compound<'a> {
    pub fn open(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Self> {
        let shift =
            |at: usize| u16_at(bytes, at).filter(|shift| (6..=12).contains(shift)).map(|shift| 1_usize << shift);
        let (sector, mini_sector) = (shift(30).ok_or_else(cut)?, shift(32).ok_or_else(cut)?);
        let mut file = Self {
            bytes,
            budget,
            sector,
            mini_sector,
            mini_below: size_at(bytes, 56).ok_or_else(cut)?,
            table: Vec::new(),
            mini_table: Vec::new(),
            mini_stream: Vec::new(),
            streams: BTreeMap::new(),
        };
        file.read_table()?;
        let mini = file.chain(u32_at(bytes, 60).ok_or_else(cut)?)?;
        file.mini_table = u32s(&mini);
        let entries = file.chain(u32_at(bytes, 48).ok_or_else(cut)?)?;
        file.read_entries(&entries)?;
        Ok(file)
    }

    fn at(&self, number: u32) -> Option<&'a [u8]> {
        let number = usize::try_from(number).ok()?.checked_add(1)?;
        let from = number.checked_mul(self.sector)?;
        let sector = self.bytes.get(from..)?;
        // The last sector may end early.
        Some(&sector[..sector.len().min(self.sector)])
    }

    /// Which sector follows which. Where the parts of this table are is in the header, and in sectors of its own.
    fn read_table(&mut self) -> Result<()> {
        let mut places = u32s(self.bytes.get(HEADER - IN_HEADER * 4..HEADER).ok_or_else(cut)?);
        let mut next = u32_at(self.bytes, 68).ok_or_else(cut)?;
        let most = self.bytes.len() / self.sector + 1;
        let mut seen = 0;
        while next < LAST && seen <= most {
            let mut more = u32s(self.at(next).ok_or_else(cut)?);
            next = more.pop().unwrap_or(LAST);
            places.extend(more);
            seen += 1;
        }
        for place in places.into_iter().filter(|place| *place < LAST).take(most) {
            self.table.extend(u32s(self.at(place).ok_or_else(cut)?));
        }
        Ok(())
    }

    /// The sectors from `start` on, together.
    fn chain(&self, start: u32) -> Result<Vec<u8>> {
        let (mut all, mut next, mut left) = (Vec::new(), start, self.bytes.len() / self.sector + 1);
        while next < LAST {
            if left == 0 {
                return Err(ExtractError::broken("its parts follow each other in a circle"));
            }
            left -= 1;
            let sector = self.at(next).ok_or_else(cut)?;
            self.budget.unpack(sector.len())?;
            all.extend_from_slice(sector);
            next = usize::try_from(next).ok().and_then(|at| self.table.get(at).copied()).ok_or_else(cut)?;
        }
        Ok(all)
    }

    fn read_entries(&mut self, entries: &[u8]) -> Result<()> {
        let count = entries.len() / ENTRY;
        let most = self.budget.limits.members;
        if count > most {
            return Err(ExtractError::TooLarge(format!("it has {count} parts, more than {most}")));
        }
        let root = entries.get(..ENTRY).filter(|root| root[66] == ROOT).ok_or_else(cut)?;
        self.mini_stream = self.chain(u32_at(root, 116).unwrap_or(NO_ENTRY))?;
        // Entries are trees of siblings; each is visited once, whatever they say.
        let mut open = vec![(u32_at(root, 76).unwrap_or(NO_ENTRY), String::new())];
        let mut seen = vec![false; count];
        while let Some((number, folder)) = open.pop() {
            let Some(at) = usize::try_from(number).ok().filter(|at| *at < count && !seen[*at]) else { continue };
            seen[at] = true;
            let entry = &entries[at * ENTRY..(at + 1) * ENTRY];
            let path = format!("{folder}{}", name(entry));
            for sibling in [68, 72] {
                open.push((u32_at(entry, sibling).unwrap_or(NO_ENTRY), folder.clone()));
            }
            if entry[66] == STREAM {
                let size = size_at(entry, 120).unwrap_or(0);
                self.streams.insert(path, Entry { start: u32_at(entry, 116).unwrap_or(LAST), size });
            } else {
                self.budget.depth(path.matches('/').count())?;
                open.push((u32_at(entry, 76).unwrap_or(NO_ENTRY), format!("{path}/")));
            }
        }
        Ok(())
    }

    pub fn has(&self, path: &str) -> bool {
        self.streams.contains_key(path)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.streams.keys().map(String::as_str)
    }

    /// `None` if there is no such stream.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.streams.get(path) else { return Ok(None) };
        let mut content =
            if entry.size < self.mini_below { self.mini_chain(*entry)? } else { self.chain(entry.start)? };
        if content.len() < entry.size {
            return Err(ExtractError::broken(format!("its part `{path}` is cut off")));
        }
        content.truncate(entry.size);
        Ok(Some(content))
    }

    fn mini_chain(&self, entry: Entry) -> Result<Vec<u8>> {
        let (mut all, mut next) = (Vec::new(), entry.start);
        while next < LAST && all.len() < entry.size {
            let number = usize::try_from(next).map_err(|_| cut())?;
            let from = number.checked_mul(self.mini_sector).ok_or_else(cut)?;
            let sector = self.mini_stream.get(from..).filter(|rest| !rest.is_empty()).ok_or_else(cut)?;
            let sector = &sector[..sector.len().min(self.mini_sector)];
            self.budget.unpack(sector.len())?;
            all.extend_from_slice(sector);
            next = self.mini_table.get(number).copied().ok_or_else(cut)?;
        }
        Ok(all)
    }
}

fn name(entry: &[u8]) -> String {
    let length = usize::from(u16_at(entry, 64).unwrap_or(0)).min(64).saturating_sub(2);
    utf_16(&entry[..length])
}
