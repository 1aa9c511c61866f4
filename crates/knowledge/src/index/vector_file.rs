//! The two files of an index's vectors.
//!
//! `vectors-N.codes` has what is kept in memory: for each document that was put in, a head (document, rows, check) and for
//! each row its chunk, its factor and its code. A later block of the same document replaces an earlier one; one without rows
//! removes it. `vectors-N.full` has the same rows in half precision. Both only grow; what counts of them is what the last
//! commit names. `N` is counted up when they are written anew without replaced rows.

use super::codes::{Code, code_len};
use super::types::IndexError;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Document, rows and check, 4 bytes each.
const HEAD: usize = 12;
const PREFIX: &str = "vectors-";

/// What a commit names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub generation: u32,
    /// Bytes of the file of codes.
    pub codes: u64,
    /// Rows of the file of full vectors.
    pub rows: u64,
}

/// Rows of a document, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    pub document: u32,
    pub chunks: Vec<u32>,
    pub factors: Vec<f32>,
    pub bits: Vec<u8>,
}

impl Block {
    pub fn push(&mut self, chunk: u32, code: &Code) {
        self.chunks.push(chunk);
        self.factors.push(code.factor);
        self.bits.extend_from_slice(&code.bits);
    }
}

pub struct VectorFiles {
    dir: PathBuf,
    dimension: usize,
    codes: File,
    full: Arc<File>,
    state: FileState,
    /// Not written yet.
    new_codes: Vec<u8>,
    new_full: Vec<u8>,
}

/// Written when so much has come together, bytes.
const BUFFER: usize = 4 << 20;

impl VectorFiles {
    /// Cuts off what was not committed, deletes files of other generations, and hands each block to `found`.
    pub fn open(
        dir: &Path,
        dimension: usize,
        state: FileState,
        mut found: impl FnMut(Block, u64),
    ) -> Result<Self, IndexError> {
        let damaged = |reason: &str| IndexError::Damaged { dir: dir.to_owned(), reason: reason.to_owned() };
        delete_others(dir, state.generation)?;
        let (mut codes, full) = Self::files(dir, state.generation)?;
        let full_len = state.rows * row_len(dimension);
        if codes.metadata()?.len() < state.codes || full.metadata()?.len() < full_len {
            return Err(damaged("a file of vectors is shorter than what was committed"));
        }
        codes.set_len(state.codes)?;
        full.set_len(full_len)?;
        let mut rows = 0;
        let mut reader = std::io::BufReader::with_capacity(BUFFER, &mut codes);
        let mut left = state.codes;
        while left > 0 {
            let (block, len) = read_block(&mut reader, code_len(dimension), left).map_err(|error| {
                if error.kind() == std::io::ErrorKind::InvalidData { damaged(&error.to_string()) } else { error.into() }
            })?;
            left -= len;
            let first = rows;
            rows += block.chunks.len() as u64;
            found(block, first);
        }
        if rows != state.rows {
            return Err(damaged("its files of vectors do not belong together"));
        }
        codes.seek(SeekFrom::End(0))?;
        let full = Arc::new(full);
        Ok(Self { dir: dir.to_owned(), dimension, codes, full, state, new_codes: Vec::new(), new_full: Vec::new() })
    }

    fn files(dir: &Path, generation: u32) -> Result<(File, File), IndexError> {
        let open = |kind: &str| {
            let path = dir.join(format!("{PREFIX}{generation}.{kind}"));
            File::options().read(true).write(true).create(true).truncate(false).open(path)
        };
        Ok((open("codes")?, open("full")?))
    }

    /// Row number of its first row.
    pub fn append(&mut self, block: &Block, full: &[u8]) -> Result<u64, IndexError> {
        let first = self.state.rows;
        let rows = u32::try_from(block.chunks.len()).map_err(std::io::Error::other)?;
        let mut body = Vec::with_capacity(block.chunks.len() * (8 + code_len(self.dimension)));
        for (at, bits) in block.bits.chunks_exact(code_len(self.dimension)).enumerate() {
            body.extend_from_slice(&block.chunks[at].to_le_bytes());
            body.extend_from_slice(&block.factors[at].to_le_bytes());
            body.extend_from_slice(bits);
        }
        self.new_codes.extend_from_slice(&block.document.to_le_bytes());
        self.new_codes.extend_from_slice(&rows.to_le_bytes());
        self.new_codes.extend_from_slice(&check(block.document, rows, &body).to_le_bytes());
        self.new_codes.extend_from_slice(&body);
        self.new_full.extend_from_slice(full);
        self.state.codes += (HEAD + body.len()) as u64;
        self.state.rows += u64::from(rows);
        if self.new_full.len() + self.new_codes.len() > BUFFER {
            self.flush()?;
        }
        Ok(first)
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.codes.write_all(&self.new_codes)?;
        let written = self.state.rows * row_len(self.dimension) - self.new_full.len() as u64;
        self.full.write_all_at(&self.new_full, written)?;
        self.new_codes.clear();
        self.new_full.clear();
        Ok(())
    }

    /// On disk when it returns.
    pub fn sync(&mut self) -> Result<FileState, IndexError> {
        self.flush()?;
        self.codes.sync_data()?;
        self.full.sync_data()?;
        File::open(&self.dir)?.sync_all()?;
        Ok(self.state)
    }

    /// An empty pair of files of the next generation. The old one is deleted by [`Self::delete_old`].
    pub fn next(&self) -> Result<Self, IndexError> {
        let generation = self.state.generation.wrapping_add(1);
        let (codes, full) = Self::files(&self.dir, generation)?;
        codes.set_len(0)?;
        full.set_len(0)?;
        Ok(Self {
            dir: self.dir.clone(),
            dimension: self.dimension,
            codes,
            full: Arc::new(full),
            state: FileState { generation, codes: 0, rows: 0 },
            new_codes: Vec::new(),
            new_full: Vec::new(),
        })
    }

    pub fn delete_old(&self) -> Result<(), IndexError> {
        delete_others(&self.dir, self.state.generation)
    }

    pub fn reader(&self) -> FullVectors {
        FullVectors { file: Arc::clone(&self.full), row_len: row_len(self.dimension) }
    }

    pub fn bytes(&self) -> u64 {
        self.state.codes + self.state.rows * row_len(self.dimension)
    }
}

/// Reads rows in half precision.
#[derive(Clone)]
pub struct FullVectors {
    file: Arc<File>,
    row_len: u64,
}

impl FullVectors {
    /// `rows` rows from number `first`.
    pub fn read(&self, first: u64, rows: usize, into: &mut Vec<u8>) -> std::io::Result<()> {
        let len = usize::try_from(self.row_len).unwrap_or(usize::MAX).saturating_mul(rows);
        into.resize(len, 0);
        self.file.read_exact_at(into, first * self.row_len)
    }
}

fn row_len(dimension: usize) -> u64 {
    dimension as u64 * 2
}

fn delete_others(dir: &Path, generation: u32) -> Result<(), IndexError> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        if rest.split('.').next() != Some(generation.to_string().as_str()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn check(document: u32, rows: u32, body: &[u8]) -> u32 {
    let mut check = crc32fast::Hasher::new();
    check.update(&document.to_le_bytes());
    check.update(&rows.to_le_bytes());
    check.update(body);
    check.finalize()
}

fn read_block(reader: &mut impl std::io::Read, code_len: usize, left: u64) -> std::io::Result<(Block, u64)> {
    let broken = || std::io::Error::new(std::io::ErrorKind::InvalidData, "a block of vectors is broken");
    if left < HEAD as u64 {
        return Err(broken());
    }
    let mut number = || {
        let mut bytes = [0_u8; 4];
        reader.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    };
    let (document, rows, wanted) = (number()?, number()?, number()?);
    let row = 8 + code_len;
    let len = HEAD as u64 + u64::from(rows) * row as u64;
    if len > left {
        return Err(broken());
    }
    let mut body = vec![0; rows as usize * row];
    reader.read_exact(&mut body)?;
    if check(document, rows, &body) != wanted {
        return Err(broken());
    }
    let mut block = Block { document, ..Block::default() };
    for row in body.chunks_exact(row) {
        block.chunks.push(u32::from_le_bytes([row[0], row[1], row[2], row[3]]));
        block.factors.push(f32::from_le_bytes([row[4], row[5], row[6], row[7]]));
        block.bits.extend_from_slice(&row[8..]);
    }
    Ok((block, len))
}
