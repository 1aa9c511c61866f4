//! Secrets of this installation: files that only their owner can read.

use rand::Rng;
use secrecy::SecretBox;
use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Length of the signing key, bytes.
const KEY_BYTES: usize = 32;

/// Made at the first start. An error says what to do about a file that can't be used.
pub fn signing_key(data_dir: &Path) -> Result<SecretBox<Vec<u8>>> {
    let path = data_dir.join("signing.key");
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let bytes = hex::decode(text.trim()).ok().filter(|bytes| bytes.len() >= KEY_BYTES);
            let damaged = || format!("{} is damaged; delete it, and everybody logs in again", path.display());
            Ok(SecretBox::new(Box::new(bytes.ok_or_else(|| Error::other(damaged()))?)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let bytes = random(KEY_BYTES);
            write_private(&path, &hex::encode(&bytes))?;
            Ok(SecretBox::new(Box::new(bytes)))
        }
        Err(error) => Err(Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))),
    }
}

pub fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; count];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Writes a file that only its owner can read, durably.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    let failed =
        |path: &Path, error: Error| Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    let temporary = path.with_extension("new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .map_err(|error| failed(&temporary, error))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, path).map_err(|error| failed(path, error))
}
