use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A copy of a folder that a test may change; removed when dropped.
#[derive(Debug)]
pub struct Workspace {
    dir: TempDir,
}

impl Workspace {
    pub fn empty() -> io::Result<Self> {
        Ok(Self { dir: tempfile::tempdir()? })
    }

    /// A copy of all files and folders under `source`, without links.
    pub fn copy_of(source: &Path) -> io::Result<Self> {
        let workspace = Self::empty()?;
        copy(source, workspace.path())
            .map_err(|e| io::Error::new(e.kind(), format!("copying {}: {e}", source.display())))?;
        Ok(workspace)
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Creates the folders above it, too.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        let path = self.file(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content)?;
        Ok(path)
    }

    pub fn read(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.file(name))
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_copy_is_apart_from_its_source() {
        let source = Workspace::empty().unwrap();
        source.write("a/b.txt", "one").unwrap();
        let copy = Workspace::copy_of(source.path()).unwrap();
        copy.write("a/b.txt", "two").unwrap();
        assert_eq!(source.read("a/b.txt").unwrap(), "one");
        assert_eq!(copy.read("a/b.txt").unwrap(), "two");
        let gone = Workspace::copy_of(&source.file("nothing")).unwrap_err();
        assert!(gone.to_string().contains("nothing"), "{gone}");
    }
}
