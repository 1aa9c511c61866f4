use std::fs::File;
use std::io::Read as _;

use rustix::fs::{Mode, OFlags};

use super::error::FilesError;
use super::path::RelPath;
use super::workspace::Workspace;

impl Workspace {
    /// Opens a regular file for reading.
    pub fn open_read(&self, path: &str) -> Result<File, FilesError> {
        let path = self.resolve(path)?;
        self.open_regular(&path).map(|(file, _)| file)
    }

    /// Reads a file whole, up to the workspace's limit.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FilesError> {
        let path = self.resolve(path)?;
        let (file, size) = self.open_regular(&path)?;
        let max = self.limits.read_bytes;
        let too_large = |size| FilesError::TooLarge { path: path.given().to_owned(), size, max };
        if size > max {
            return Err(too_large(size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file can grow while it is read, and files of /proc say 0.
        file.take(max + 1).read_to_end(&mut bytes).map_err(|e| FilesError::io(path.given(), e))?;
        let read = bytes.len() as u64;
        if read > max { Err(too_large(read)) } else { Ok(bytes) }
    }

    pub(super) fn open_regular(&self, path: &RelPath) -> Result<(File, u64), FilesError> {
        // NONBLOCK: opening a pipe must not wait for a writer before it is refused.
        let fd = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
        let stat = Self::regular(path, &fd)?;
        Ok((File::from(fd), u64::try_from(stat.st_size).unwrap_or(0)))
    }
}
