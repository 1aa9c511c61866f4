//! Vectors that outlive the process, in one file.
//!
//! Format 1: records of equal length, each a key (32 hexadecimal digits), the numbers (`f32`, little endian) and a
//! checksum over both (16 hexadecimal digits). Several programs may append whole records at once. A file with a bad
//! record is started again: it holds only what can be computed again.

use super::DIMENSION;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use steward_core::hash::sha256;
use steward_core::locks::lock;

const KEY: usize = 32;
const CHECK: usize = 16;
const RECORD: usize = KEY + DIMENSION * 4 + CHECK;
/// Records kept (8 MB); beyond that the file is started again.
const MAX_RECORDS: usize = 5_000;

type Key = [u8; KEY];

/// Read at first use.
pub(super) struct VectorCache {
    file: PathBuf,
    known: Mutex<Option<HashMap<Key, Vec<f32>>>>,
}

impl VectorCache {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, known: Mutex::new(None) }
    }

    pub(super) fn find(&self, model: &str, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let mut known = lock(&self.known);
        let known = known.get_or_insert_with(|| read(&self.file));
        texts.iter().map(|text| known.get(&key(model, text)).cloned()).collect()
    }

    /// A file that can't be written costs time at the next start, no more.
    pub(super) fn add(&self, model: &str, made: &[(&str, Vec<f32>)]) {
        let mut known = lock(&self.known);
        let known = known.get_or_insert_with(|| read(&self.file));
        let anew = known.is_empty() || known.len() + made.len() > MAX_RECORDS;
        if anew {
            known.clear();
        }
        let mut records = Vec::with_capacity(made.len() * RECORD);
        for (text, vector) in made.iter().take(MAX_RECORDS) {
            let key = key(model, text);
            records.extend_from_slice(&record(&key, vector));
            known.insert(key, vector.clone());
        }
        if let Err(error) = write(&self.file, &records, anew) {
            tracing::debug!(%error, file = %self.file.display(), "vectors are not kept");
        }
    }
}

fn key(model: &str, text: &str) -> Key {
    let mut key = [0; KEY];
    let name = sha256(format!("{model}\0{text}").as_bytes());
    key.copy_from_slice(&name.as_bytes()[..KEY]);
    key
}

fn record(key: &Key, vector: &[f32]) -> Vec<u8> {
    let mut record = key.to_vec();
    for number in vector {
        record.extend_from_slice(&number.to_le_bytes());
    }
    let check = sha256(&record);
    record.extend_from_slice(&check.as_bytes()[..CHECK]);
    record
}

/// Empty if a record's checksum is wrong. An incomplete last record is being written by another program: skipped.
fn read(file: &Path) -> HashMap<Key, Vec<f32>> {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes
        .chunks_exact(RECORD)
        .map(|record| {
            let (content, check) = record.split_at(RECORD - CHECK);
            let (key, numbers) = content.split_first_chunk()?;
            let vector = numbers.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four));
            (sha256(content).as_bytes()[..CHECK] == *check).then(|| (*key, vector.collect()))
        })
        .collect::<Option<_>>()
        .unwrap_or_default()
}

fn write(file: &Path, records: &[u8], anew: bool) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut open = OpenOptions::new().append(true).create(true).open(file)?;
    if anew {
        open.set_len(0)?;
    }
    open.write_all(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(first: f32) -> Vec<f32> {
        let mut vector = vec![0.5; DIMENSION];
        vector[0] = first;
        vector
    }

    fn has(file: &Path, texts: &[&str]) -> Vec<bool> {
        let found = VectorCache::new(file.to_owned()).find("m", texts);
        found.iter().map(Option::is_some).collect()
    }

    #[test]
    fn vectors_outlive_the_process_and_belong_to_their_model() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made/here/vectors");
        let kept = VectorCache::new(file.clone());
        assert_eq!(kept.find("m", &["a"]), [None]);
        kept.add("m", &[("a", vector(1.0)), ("b", vector(2.0))]);
        kept.add("m", &[("c", vector(3.0))]);
        let again = VectorCache::new(file);
        let found = again.find("m", &["b", "x", "c"]);
        assert_eq!(found, [Some(vector(2.0)), None, Some(vector(3.0))]);
        assert_eq!(again.find("other", &["a"]), [None]);
    }

    #[test]
    fn a_damaged_file_is_begun_anew_and_a_torn_end_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vectors");
        VectorCache::new(file.clone()).add("m", &[("a", vector(1.0)), ("b", vector(2.0))]);
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 5]).unwrap();
        assert_eq!(has(&file, &["a", "b"]), [true, false]);
        let mut damaged = whole;
        damaged[KEY + 9] ^= 1;
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(has(&file, &["a", "b"]), [false, false]);
        VectorCache::new(file.clone()).add("m", &[("c", vector(3.0))]);
        assert_eq!(has(&file, &["b", "c"]), [false, true]);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), RECORD as u64);
    }

    #[test]
    fn it_does_not_grow_for_ever_and_may_be_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vectors");
        let kept = VectorCache::new(file.clone());
        for round in 0..3 {
            let names: Vec<_> = (0..2400).map(|n| format!("{round} {n}")).collect();
            let made: Vec<_> = names.iter().map(|n| (n.as_str(), vector(1.0))).collect();
            kept.add("m", &made);
        }
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 2400 * RECORD as u64);
        let nowhere = VectorCache::new(file.join("below a file"));
        nowhere.add("m", &[("a", vector(1.0))]);
        assert_eq!(nowhere.find("m", &["a"]), [Some(vector(1.0))]);
    }
}
