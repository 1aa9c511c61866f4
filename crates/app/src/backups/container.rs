//! The form of a backup: a line that names it, a head in the clear, then pieces of some kilobytes. Each piece is bound to
//! those before it, by a chain of hashes or sealed with its number, so that every byte of the file is covered and a cut, a
//! change or a piece of another file is noticed where it stands. Never more than one piece is in memory.

use super::error::BackupError;
use super::manifest::{Entry, Manifest, Totals};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind, Read, Write};
use steward_access::BackupKey;

const MAGIC: &[u8] = b"STEWARD BACKUP\n";
/// Counts changes of all that stands in a backup; steps are added, never edited.
pub const FORMAT: u32 = 1;
/// Longest head, bytes.
const MAX_HEAD: usize = 4096;
/// Longest piece, bytes. Only the manifest comes near it.
const MAX_PIECE: usize = 4 << 20;
/// Bytes of a file in one piece.
const DATA: usize = 128 << 10;
/// Length of what binds a piece that isn't sealed, bytes.
const BOUND: usize = 16;

/// What can be read without the passphrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub format: u32,
    /// Version of the program that made it.
    pub program: String,
    /// Milliseconds since 1970 UTC.
    pub made_at: i64,
    pub sealed: Option<SealedHead>,
}

/// How the key is made of the passphrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedHead {
    salt: String,
    check: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Manifest = 1,
    File = 2,
    Data = 3,
    FileEnd = 4,
    End = 5,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEnd {
    bytes: u64,
    sha256: String,
}

/// What binds the pieces of one file.
struct Binding {
    key: Option<BackupKey>,
    /// Hash of all that stands before the first piece.
    head: [u8; 32],
    /// Hash of the piece before, where they are not sealed.
    last: [u8; 32],
    number: u64,
}

pub struct BackupWriter<W> {
    out: W,
    binding: Binding,
    totals: Totals,
    list: Sha256,
}

pub struct BackupReader<R> {
    input: R,
    binding: Binding,
    totals: Totals,
    list: Sha256,
    /// Bytes that were read.
    at: u64,
}

impl Binding {
    fn new(key: Option<BackupKey>, head: &[u8]) -> Self {
        let head: [u8; 32] = Sha256::new_with_prefix(MAGIC).chain_update(head).finalize().into();
        Self { key, head, last: head, number: 0 }
    }

    fn bind(&mut self, plain: Vec<u8>) -> io::Result<Vec<u8>> {
        let bound = if let Some(key) = &self.key {
            let sealed = key.seal(self.number, &self.head, &plain);
            sealed.ok_or_else(|| io::Error::other("a piece could not be sealed"))?
        } else {
            self.last = chained(&self.last, &plain);
            let mut bound = plain;
            bound.extend_from_slice(&self.last[..BOUND]);
            bound
        };
        self.number += 1;
        Ok(bound)
    }

    /// `None`: it is not the piece that belongs here.
    fn unbind(&mut self, mut bound: Vec<u8>) -> Option<Vec<u8>> {
        let plain = if let Some(key) = &self.key {
            key.open(self.number, &self.head, &bound)?
        } else {
            let length = bound.len().checked_sub(BOUND)?;
            let expected = chained(&self.last, &bound[..length]);
            if bound[length..] != expected[..BOUND] {
                return None;
            }
            self.last = expected;
            bound.truncate(length);
            bound
        };
        self.number += 1;
        Some(plain)
    }
}

fn chained(last: &[u8; 32], plain: &[u8]) -> [u8; 32] {
    Sha256::new_with_prefix(last).chain_update(plain).finalize().into()
}

impl<W: Write> BackupWriter<W> {
    pub fn begin(mut out: W, key: Option<BackupKey>, head: &Head, manifest: &Manifest) -> io::Result<Self> {
        let text = serde_json::to_vec(head)?;
        out.write_all(MAGIC)?;
        write_length(&mut out, text.len())?;
        out.write_all(&text)?;
        let binding = Binding::new(key, &text);
        let mut writer = Self { out, binding, totals: Totals::default(), list: Sha256::new() };
        writer.piece(Kind::Manifest, &serde_json::to_vec(manifest)?)?;
        Ok(writer)
    }

    /// Takes all that `data` gives; `copied` is told of each part of it, and `false` ends it.
    pub fn file(
        &mut self,
        entry: &Entry,
        mut data: impl Read,
        mut copied: impl FnMut(u64) -> bool,
    ) -> Result<(), BackupError> {
        self.piece(Kind::File, &json!(entry).to_string().into_bytes()).map_err(BackupError::Write)?;
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut part = vec![0; DATA];
        loop {
            let read = fill(&mut data, &mut part).map_err(|error| BackupError::Read(entry.path.clone(), error))?;
            if read == 0 {
                break;
            }
            hash.update(&part[..read]);
            bytes += read as u64;
            self.piece(Kind::Data, &part[..read]).map_err(BackupError::Write)?;
            if !copied(read as u64) {
                return Err(BackupError::Stopped);
            }
        }
        let end = FileEnd { bytes, sha256: hex::encode(hash.finalize()) };
        self.totals.add(&mut self.list, &entry.path, &end.sha256, bytes);
        self.piece(Kind::FileEnd, &json!(end).to_string().into_bytes()).map_err(BackupError::Write)
    }

    pub fn end(mut self) -> io::Result<(W, Totals)> {
        self.totals.list = hex::encode(self.list.clone().finalize());
        let end = serde_json::to_vec(&self.totals)?;
        self.piece(Kind::End, &end)?;
        self.out.flush()?;
        Ok((self.out, self.totals))
    }

    fn piece(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        if payload.len() > MAX_PIECE {
            return Err(io::Error::other("there are too many organisations for one backup"));
        }
        let mut plain = Vec::with_capacity(payload.len() + 1 + BOUND);
        plain.push(kind as u8);
        plain.extend_from_slice(payload);
        let bound = self.binding.bind(plain)?;
        write_length(&mut self.out, bound.len())?;
        self.out.write_all(&bound)
    }
}

fn write_length(out: &mut impl Write, length: usize) -> io::Result<()> {
    out.write_all(&u32::try_from(length).map_err(io::Error::other)?.to_be_bytes())
}

/// As much as there is, up to the size of `part`.
fn fill(data: &mut impl Read, part: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < part.len() {
        match data.read(&mut part[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

impl<R: Read> BackupReader<R> {
    /// Reads up to the first file. `passphrase` is asked for one only where the backup is sealed.
    pub fn open(
        mut input: R,
        passphrase: impl FnOnce() -> Option<SecretString>,
    ) -> Result<(Self, Head, Manifest), BackupError> {
        let mut magic = [0; MAGIC.len()];
        let read = fill(&mut input, &mut magic).map_err(BackupError::Input)?;
        if read < MAGIC.len() || magic != *MAGIC {
            return Err(BackupError::NotABackup);
        }
        let mut at = MAGIC.len() as u64;
        let text = read_block(&mut input, &mut at, MAX_HEAD)?;
        let head = read_head(&text).ok_or_else(|| damaged(0, "its head can't be read"))?;
        if head.format > FORMAT {
            return Err(BackupError::Newer { program: head.program });
        }
        let key = match &head.sealed {
            None => None,
            Some(sealed) => {
                let passphrase = passphrase().ok_or(BackupError::NeedsPassphrase)?;
                Some(BackupKey::of(&passphrase, &sealed.salt, &sealed.check).ok_or(BackupError::WrongPassphrase)?)
            }
        };
        let binding = Binding::new(key, &text);
        let mut reader = Self { input, binding, totals: Totals::default(), list: Sha256::new(), at };
        let manifest = match reader.piece()? {
            (Kind::Manifest, text) => reader.json(&text)?,
            _ => return Err(reader.damaged("it doesn't begin with its manifest")),
        };
        Ok((reader, head, manifest))
    }

    /// The next file, whose content [`Self::copy`] gives. `None`: that was all, and nothing was missing.
    pub fn next_file(&mut self) -> Result<Option<Entry>, BackupError> {
        match self.piece()? {
            (Kind::File, text) => Ok(Some(self.json(&text)?)),
            (Kind::End, text) => {
                let said: Totals = self.json(&text)?;
                self.totals.list = hex::encode(self.list.clone().finalize());
                if said != self.totals {
                    return Err(self.damaged("other files are in it than it says at its end"));
                }
                if fill(&mut self.input, &mut [0]).map_err(BackupError::Input)? != 0 {
                    return Err(self.damaged("something follows its end"));
                }
                Ok(None)
            }
            _ => Err(self.damaged("there is no file where one must begin")),
        }
    }

    /// Writes the content of a file and checks it. `copied` is told of each part; `false` ends it.
    pub fn copy(
        &mut self,
        entry: &Entry,
        out: &mut impl Write,
        mut copied: impl FnMut(u64) -> bool,
    ) -> Result<(), BackupError> {
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        loop {
            match self.piece()? {
                (Kind::Data, part) => {
                    hash.update(&part);
                    bytes += part.len() as u64;
                    out.write_all(&part).map_err(BackupError::Write)?;
                    if !copied(part.len() as u64) {
                        return Err(BackupError::Stopped);
                    }
                }
                (Kind::FileEnd, text) => {
                    let found = FileEnd { bytes, sha256: hex::encode(hash.finalize()) };
                    if self.json::<FileEnd>(&text)? != found {
                        return Err(self.damaged(&format!("`{}` isn't what it was", entry.path)));
                    }
                    self.totals.add(&mut self.list, &entry.path, &found.sha256, bytes);
                    return Ok(());
                }
                _ => return Err(self.damaged(&format!("`{}` has no end", entry.path))),
            }
        }
    }

    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    fn piece(&mut self) -> Result<(Kind, Vec<u8>), BackupError> {
        let begins = self.at;
        let bound = read_block(&mut self.input, &mut self.at, MAX_PIECE + 1 + BOUND)?;
        let mut plain = self
            .binding
            .unbind(bound)
            .ok_or_else(|| damaged(begins, "a part was changed, or belongs to another backup"))?;
        let kind = match plain.first() {
            Some(1) => Kind::Manifest,
            Some(2) => Kind::File,
            Some(3) => Kind::Data,
            Some(4) => Kind::FileEnd,
            Some(5) => Kind::End,
            _ => return Err(damaged(begins, "a part is of no known kind")),
        };
        plain.remove(0);
        Ok((kind, plain))
    }

    fn json<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, BackupError> {
        serde_json::from_slice(text).map_err(|error| self.damaged(&format!("a part can't be read: {error}")))
    }

    fn damaged(&self, what: &str) -> BackupError {
        damaged(self.at, what)
    }
}

fn damaged(at: u64, what: &str) -> BackupError {
    BackupError::Damaged { at, what: what.to_owned() }
}

/// A later format may have more in it, and says so by its number.
fn read_head(text: &[u8]) -> Option<Head> {
    #[derive(Deserialize)]
    struct Later {
        format: u32,
        #[serde(default)]
        program: String,
    }
    if let Ok(head) = serde_json::from_slice(text) {
        return Some(head);
    }
    let later: Later = serde_json::from_slice(text).ok()?;
    (later.format > FORMAT).then_some(Head { format: later.format, program: later.program, made_at: 0, sealed: None })
}

fn read_block(input: &mut impl Read, at: &mut u64, most: usize) -> Result<Vec<u8>, BackupError> {
    let begins = *at;
    let mut length = [0; 4];
    let read = fill(input, &mut length).map_err(BackupError::Input)?;
    if read < length.len() {
        return Err(damaged(begins, "it ends too early"));
    }
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > most {
        return Err(damaged(begins, "a part is longer than it can be"));
    }
    // Not taken for granted before it is there: a damaged length must not take memory.
    let mut block = Vec::new();
    input.take(length as u64).read_to_end(&mut block).map_err(BackupError::Input)?;
    if block.len() < length {
        return Err(damaged(begins, "it ends too early"));
    }
    *at += 4 + length as u64;
    Ok(block)
}

impl SealedHead {
    pub fn of(key: &BackupKey) -> Self {
        Self { salt: key.salt(), check: key.check() }
    }
}

#[cfg(test)]
mod tests;
