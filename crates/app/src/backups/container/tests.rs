#![allow(clippy::unwrap_used, reason = "tests")]

use super::{BackupReader, BackupWriter, FORMAT, Head, SealedHead};
use crate::backups::error::BackupError;
use crate::backups::manifest::{Entry, Manifest};
use secrecy::SecretString;
use steward_access::BackupKey;

const PASSPHRASE: &str = "a heron in the reeds";

fn entry(path: &str) -> Entry {
    Entry { path: path.to_owned(), mode: None }
}

fn written(sealed: bool, files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let key = sealed.then(|| BackupKey::make(&SecretString::from(PASSPHRASE)).unwrap());
    let head = Head { format: FORMAT, program: "1.0".to_owned(), made_at: 7, sealed: key.as_ref().map(SealedHead::of) };
    let manifest = Manifest { keys: sealed, ..Manifest::default() };
    let mut writer = BackupWriter::begin(Vec::new(), key, &head, &manifest).unwrap();
    for (path, content) in files {
        writer.file(&entry(path), content.as_slice(), |_| true).unwrap();
    }
    writer.end().unwrap().0
}

fn read(backup: &[u8]) -> Result<Vec<(String, Vec<u8>)>, BackupError> {
    let (mut reader, ..) = BackupReader::open(backup, || Some(SecretString::from(PASSPHRASE)))?;
    let mut files = Vec::new();
    while let Some(entry) = reader.next_file()? {
        let mut content = Vec::new();
        reader.copy(&entry, &mut content, |_| true)?;
        files.push((entry.path, content));
    }
    Ok(files)
}

fn sample() -> Vec<(&'static str, Vec<u8>)> {
    vec![("steward.db", vec![7; 300_000]), ("blobs/a", Vec::new()), ("workspace/ü", b"text".to_vec())]
}

#[test]
fn what_is_written_is_read_again() {
    for sealed in [false, true] {
        let backup = written(sealed, &sample());
        let expect: Vec<_> = sample().into_iter().map(|(path, content)| (path.to_owned(), content)).collect();
        assert_eq!(read(&backup).unwrap(), expect);
        let holds = backup.windows(4).any(|part| part == b"text");
        assert_eq!(holds, !sealed);
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_told() {
    let small = [("steward.db", b"rows".to_vec()), ("blobs/a", b"body".to_vec())];
    let backup = written(false, &small);
    let mut damaged = 0;
    for at in 0..backup.len() {
        for flip in [1, 0x80] {
            let mut changed = backup.clone();
            changed[at] ^= flip;
            let error = read(&changed).unwrap_err();
            assert!(!error.to_string().is_empty() && !error.hint().is_empty(), "{at}");
            damaged += 1;
        }
        assert!(read(&backup[..at]).is_err(), "cut at {at}");
    }
    assert!(damaged > 1000, "{damaged}");
    let mut longer = backup.clone();
    longer.push(0);
    assert!(matches!(read(&longer), Err(BackupError::Damaged { .. })));
}

/// A key takes some tenths of a second to make, so it is made once.
#[test]
fn pieces_of_a_sealed_backup_have_one_place() {
    let backup = written(true, &[("steward.db", b"rows".to_vec()), ("blobs/a", b"body".to_vec())]);
    let head = head_length(&backup);
    for at in (head..backup.len()).step_by(41) {
        let mut changed = backup.clone();
        changed[at] ^= 1;
        assert!(read(&changed).is_err(), "{at}");
    }
    // A piece of another backup with the same passphrase.
    let other = written(true, &[("steward.db", b"rows".to_vec()), ("blobs/a", b"body".to_vec())]);
    let mixed = [&backup[..head], &other[head_length(&other)..]].concat();
    assert!(matches!(read(&mixed), Err(BackupError::Damaged { .. })));
    // One that is left out.
    let pieces = pieces(&backup);
    for left_out in 0..pieces.len() {
        let mut mixed = backup[..head].to_vec();
        for (number, piece) in pieces.iter().enumerate() {
            if number != left_out {
                mixed.extend_from_slice(piece);
            }
        }
        assert!(read(&mixed).is_err(), "{left_out}");
        if left_out > 3 {
            break;
        }
    }
}

#[test]
fn another_passphrase_or_format_is_named() {
    let backup = written(true, &sample());
    let open = |passphrase: Option<&str>| {
        let given = passphrase.map(SecretString::from);
        BackupReader::open(backup.as_slice(), || given).err().unwrap()
    };
    assert!(matches!(open(None), BackupError::NeedsPassphrase));
    assert!(matches!(open(Some("a heron in the weeds")), BackupError::WrongPassphrase));
    let later = br#"{"format":2,"program":"9.1","more":true}"#;
    let mut newer = b"STEWARD BACKUP\n".to_vec();
    newer.extend_from_slice(&u32::try_from(later.len()).unwrap().to_be_bytes());
    newer.extend_from_slice(later);
    assert!(matches!(read(&newer), Err(BackupError::Newer { program }) if program == "9.1"));
    for other in [&b""[..], b"STEWARD", b"SQLite format 3\0 and more of it"] {
        assert!(matches!(read(other), Err(BackupError::NotABackup)), "{other:?}");
    }
    // A length that would take all memory.
    let mut long = written(false, &sample());
    long[15..19].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(read(&long), Err(BackupError::Damaged { .. })));
}

fn length_at(backup: &[u8], at: usize) -> usize {
    u32::from_be_bytes(backup[at..at + 4].try_into().unwrap()) as usize
}

fn head_length(backup: &[u8]) -> usize {
    15 + 4 + length_at(backup, 15)
}

fn pieces(backup: &[u8]) -> Vec<Vec<u8>> {
    let (mut at, mut found) = (head_length(backup), Vec::new());
    while at < backup.len() {
        let end = at + 4 + length_at(backup, at);
        found.push(backup[at..end].to_vec());
        at = end;
    }
    found
}
