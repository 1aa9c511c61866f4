use super::error::{ExtractError, Result};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// What a file may ask for. What it says about its own sizes is never believed: all is counted as it comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractLimits {
    /// Of the file. Default 256 MiB.
    pub input_bytes: usize,
    /// Of all that is unpacked from it, together. Default 512 MiB.
    pub unpacked_bytes: usize,
    /// Files in an archive, or streams in a compound file. Default 20,000.
    pub members: usize,
    /// Elements within each other. Default 400.
    pub depth: usize,
    /// Files within each other, such as an attachment of an attached mail. Default 4.
    pub files_within: usize,
    /// Pages, slides, sheets or chapters. Default 20,000.
    pub pages: usize,
    /// Of the text that comes out. Default 20 million.
    pub output_chars: usize,
    /// Drawing operations of a PDF, those of repeated parts counted each time. Default 50 million.
    pub operations: usize,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            input_bytes: 256 << 20,
            unpacked_bytes: 512 << 20,
            members: 20_000,
            depth: 400,
            files_within: 4,
            pages: 20_000,
            output_chars: 20_000_000,
            operations: 50_000_000,
        }
    }
}

/// What of the limits is used up, by a file and all that is within it.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    pub limits: &'a ExtractLimits,
    unpacked: Cell<usize>,
    pages: Cell<usize>,
    chars: Cell<usize>,
    operations: Cell<usize>,
}

impl<'a> Budget<'a> {
    pub fn new(limits: &'a ExtractLimits) -> Self {
        Self {
            limits,
            unpacked: Cell::default(),
            pages: Cell::default(),
            chars: Cell::default(),
            operations: Cell::default(),
        }
    }

    /// How much may still be unpacked.
    pub fn room(&self) -> usize {
        self.limits.unpacked_bytes.saturating_sub(self.unpacked.get())
    }

    pub fn unpack(&self, bytes: usize) -> Result<()> {
        take(&self.unpacked, bytes, self.limits.unpacked_bytes, |limit| {
            format!("it unpacks to more than {} MB", limit >> 20)
        })
    }

    pub fn page(&self) -> Result<()> {
        take(&self.pages, 1, self.limits.pages, |limit| format!("it has more than {limit} pages"))
    }

    pub fn text(&self, text: &str) -> Result<()> {
        take(&self.chars, text.chars().count(), self.limits.output_chars, |limit| {
            format!("its text has more than {limit} characters")
        })
    }

    pub fn operation(&self) -> Result<()> {
        take(&self.operations, 1, self.limits.operations, |limit| {
            format!("its pages are drawn in more than {limit} steps")
        })
    }

    pub fn depth(&self, depth: usize) -> Result<()> {
        if depth > self.limits.depth {
            return Err(ExtractError::TooDeep(format!(
                "more than {} parts stand within each other",
                self.limits.depth
            )));
        }
        Ok(())
    }
}

fn take(used: &Cell<usize>, more: usize, limit: usize, what: impl Fn(usize) -> String) -> Result<()> {
    let now = used.get().saturating_add(more);
    used.set(now);
    if now > limit { Err(ExtractError::TooLarge(what(limit))) } else { Ok(()) }
}
