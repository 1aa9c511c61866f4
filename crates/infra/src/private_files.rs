//! Files of this installation: secrets and folders that only their owner can read, and folders that are deleted.

use rand::Rng;
use secrecy::SecretBox;
use std::fs::{OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Length of the signing key, bytes.
const KEY_BYTES: usize = 32;

/// What other users and the group may do.
const OTHERS: u32 = 0o077;

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
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| {
        // What is there of it is of no use.
        let _removed = std::fs::remove_file(&temporary);
        failed(&temporary, error)
    })?;
    std::fs::rename(&temporary, path).map_err(|error| failed(path, error))?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Makes the data directory, which only its owner may enter.
pub fn make_data_dir(dir: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
        let shown = dir.display();
        Error::new(
            error.kind(),
            format!("cannot make the data directory {shown}; choose another with --data-dir: {error}"),
        )
    })
}

/// Takes from other users of the machine what they may do with the files and folders that lie right in the data directory;
/// what is below a folder can't be reached then. `open`: a folder that stays as it is. Answers with the mode of the
/// directory itself where others may enter it: that is its owner's to change, who may have made it so for a reason.
pub fn close_data_dir(dir: &Path, open: &str) -> Result<Option<u32>> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let about = entry.metadata()?;
        let mode = about.permissions().mode();
        if mode & OTHERS == 0 || about.file_type().is_symlink() || entry.file_name() == open {
            continue;
        }
        let closed = std::fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o7777 & !OTHERS));
        // It may have gone meanwhile, or be somebody else's.
        if let Err(error) = closed
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(path = %entry.path().display(), %error, "others may read this, and it can't be changed");
        }
    }
    let mode = std::fs::metadata(dir)?.permissions().mode() & 0o7777;
    Ok((mode & OTHERS != 0).then_some(mode))
}

/// Deletes a folder, which may be missing; returns how many files there were.
pub fn delete_folder(folder: &Path) -> Result<u64> {
    let files = match count_files(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        counted => counted?,
    };
    std::fs::remove_dir_all(folder)?;
    Ok(files)
}

/// Links are counted and not followed.
fn count_files(folder: &Path) -> Result<u64> {
    let mut files = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files += if entry.file_type()?.is_dir() { count_files(&entry.path())? } else { 1 };
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{close_data_dir, delete_folder};
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn others_may_not_read_what_lies_in_an_open_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |name: &str| dir.path().join(name).metadata().unwrap().permissions().mode() & 0o7777;
        let set =
            |name: &str, mode| std::fs::set_permissions(dir.path().join(name), Permissions::from_mode(mode)).unwrap();
        std::fs::write(dir.path().join("steward.db"), "x").unwrap();
        set("steward.db", 0o644);
        for folder in ["blobs", "workspace"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
            set(folder, 0o755);
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        set(".", 0o755);
        assert_eq!(close_data_dir(dir.path(), "workspace").unwrap(), Some(0o755));
        assert_eq!((mode("steward.db"), mode("blobs"), mode("workspace")), (0o600, 0o700, 0o755));
        set(".", 0o700);
        assert_eq!(close_data_dir(dir.path(), "workspace").unwrap(), None);
    }

    #[test]
    fn a_full_disk_is_named_and_no_half_stays() {
        let dir = tempfile::tempdir().unwrap();
        let temporary = dir.path().join("x.new");
        std::os::unix::fs::symlink("/dev/full", &temporary).unwrap();
        let error = super::write_private(&dir.path().join("x.key"), "secret").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("x.new"), "{error}");
        assert!(temporary.symlink_metadata().is_err());
    }

    #[test]
    fn a_folder_goes_with_all_that_is_in_it_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (dir.path().join("mine"), dir.path().join("other"));
        std::fs::create_dir_all(mine.join("a/b")).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        for file in ["mine/x", "mine/a/b/y", "other/z"] {
            std::fs::write(dir.path().join(file), "text").unwrap();
        }
        std::os::unix::fs::symlink(&other, mine.join("link")).unwrap();
        assert_eq!(delete_folder(&mine).unwrap(), 3);
        assert!(!mine.exists() && other.join("z").exists());
        assert_eq!(delete_folder(&mine).unwrap(), 0);
    }
}
