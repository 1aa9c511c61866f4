//! Secrets of this installation: files that only their owner can read.

use anyhow::Context;
use rand::Rng;
use secrecy::SecretBox;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Length of the signing key, bytes.
const KEY_BYTES: usize = 32;

/// The key that signs access tokens; created at the first start.
pub fn signing_key(data_dir: &Path) -> anyhow::Result<SecretBox<Vec<u8>>> {
    let path = data_dir.join("signing.key");
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let bytes = hex::decode(text.trim())
                .ok()
                .filter(|bytes| bytes.len() >= KEY_BYTES)
                .with_context(|| format!("{} is damaged; delete it, and everybody logs in again", path.display()))?;
            Ok(SecretBox::new(Box::new(bytes)))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let bytes = random(KEY_BYTES);
            write_private(&path, &hex::encode(&bytes))?;
            Ok(SecretBox::new(Box::new(bytes)))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

pub fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; count];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Writes a file that only its owner can read, durably.
pub fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let temporary = path.with_extension("new");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .with_context(|| format!("cannot write {}", temporary.display()))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}
