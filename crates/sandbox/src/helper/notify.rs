//! Changes modes and times of files on behalf of the program, since Landlock does not govern them: the kernel stops
//! such a call and asks here; the file is opened, checked, and changed if the program may write it and it belongs to
//! its user. The program's own call is never executed.
#![expect(unsafe_code, reason = "the kernel's questions come by system calls without a wrapper")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, Timespec, Timestamps, chmod, fstat, open, openat2, readlink, utimensat,
};
use rustix::io::Errno;
use seccompiler::sock_filter;

use super::seccomp::SYS_FCHMODAT2;
use crate::process::{receive_descriptor, send_with_descriptors};

const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const STILL_VALID: libc::c_ulong = 0x4008_2102;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
const MOST_PATH: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct WritableFiles {
    pub write: Vec<PathBuf>,
    pub user: u32,
}

/// In the program's process: installs the filter and hands the kernel's listener to the supervisor.
pub(super) fn ask(program: &[sock_filter], supervisor: &OwnedFd) -> io::Result<()> {
    let header = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the header tells the length of a list of instructions that outlives the call.
    let listener =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, NEW_LISTENER, &raw const header) };
    let listener = i32::try_from(listener).unwrap_or(-1);
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made this descriptor, and nothing else knows it.
    let listener = unsafe { OwnedFd::from_raw_fd(listener) };
    send_with_descriptors(supervisor, b"g", &[listener.as_fd()])
}

/// In the supervisor: answers until no process is left that could ask.
pub(super) fn serve(from: &OwnedFd, files: &WritableFiles) {
    let Ok(listener) = receive_descriptor(from) else {
        return;
    };
    loop {
        // SAFETY: the kernel wants it zeroed, and zeros are a value of it.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the request writes one structure of this size.
        if unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) } != 0 {
            match io::Error::last_os_error().raw_os_error() {
                // The process that asked is gone.
                Some(libc::ENOENT | libc::EINTR) => continue,
                _ => return,
            }
        }
        let done = change(&listener, &asked, files);
        let answer = libc::seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error: done.err().map_or(0, |errno| -errno.raw_os_error()),
            flags: 0,
        };
        // SAFETY: the request reads one structure of this size. There may be nobody left to receive it.
        unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const answer) };
    }
}

enum Change {
    Mode(u32),
    /// Address of the two times in the program's memory; 0: now.
    Times(u64),
}

fn change(listener: &OwnedFd, asked: &libc::seccomp_notif, files: &WritableFiles) -> Result<(), Errno> {
    let [a, b, c, d, ..] = asked.data.args;
    #[expect(clippy::cast_possible_truncation, reason = "the kernel takes the low half too")]
    let (folder, mode, flags) = ((a as u32).cast_signed(), c as u32, d as u32);
    let here = libc::AT_FDCWD;
    let (folder, path, wanted, flags) = match libc::c_long::from(asked.data.nr) {
        #[cfg(target_arch = "x86_64")]
        #[expect(clippy::cast_possible_truncation, reason = "likewise")]
        libc::SYS_chmod => (here, Some(a), Change::Mode(b as u32), 0),
        #[expect(clippy::cast_possible_truncation, reason = "likewise")]
        libc::SYS_fchmod => (folder, None, Change::Mode(b as u32), 0),
        libc::SYS_fchmodat => (folder, Some(b), Change::Mode(mode), 0),
        SYS_FCHMODAT2 => (folder, Some(b), Change::Mode(mode), flags),
        libc::SYS_utimensat => (folder, Some(b), Change::Times(c), flags),
        _ => return Err(Errno::PERM),
    };
    let process = Process(asked.pid);
    let path = path.map(|at| process.path(at)).transpose()?;
    let times = match wanted {
        Change::Times(at) if at != 0 => Some(process.times(at)?),
        _ => None,
    };
    let flags = AtFlags::from_bits_retain(flags);
    let file = process.open(folder, path.as_deref(), flags)?;
    // Everything was read from the process that asked, not from a later one of the same number. SAFETY: the request
    // reads one number.
    if unsafe { libc::ioctl(listener.as_raw_fd(), STILL_VALID, &raw const asked.id) } != 0 {
        return Err(Errno::SRCH);
    }
    let place = format!("/proc/self/fd/{}", file.as_raw_fd());
    let at = PathBuf::from(readlink(&place, Vec::new())?.to_string_lossy().into_owned());
    let inside = files.write.iter().any(|root| at.starts_with(root));
    if !inside || fstat(&file)?.st_uid != files.user {
        return Err(Errno::PERM);
    }
    match wanted {
        Change::Mode(mode) => chmod(&place, Mode::from_raw_mode(mode & 0o1777)),
        Change::Times(_) => {
            let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
            let times = times.unwrap_or(Timestamps { last_access: now, last_modification: now });
            utimensat(&file, "", &times, AtFlags::EMPTY_PATH)
        }
    }
}

/// The process that asks, seen through its files below /proc.
struct Process(u32);

impl Process {
    fn path(&self, at: u64) -> Result<PathBuf, Errno> {
        let mut bytes = vec![0; MOST_PATH];
        let read = self.read(at, &mut bytes)?;
        let end = bytes[..read].iter().position(|b| *b == 0).ok_or(Errno::NAMETOOLONG)?;
        bytes.truncate(end);
        Ok(std::ffi::OsString::from_vec(bytes).into())
    }

    fn times(&self, at: u64) -> Result<Timestamps, Errno> {
        let mut bytes = [0; 32];
        if self.read(at, &mut bytes)? < bytes.len() {
            return Err(Errno::FAULT);
        }
        let number = |n: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[n * 8..][..8]);
            i64::from_ne_bytes(eight)
        };
        let time = |n: usize| Timespec { tv_sec: number(n), tv_nsec: number(n + 1) };
        Ok(Timestamps { last_access: time(0), last_modification: time(2) })
    }

    /// Up to the end of its memory.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let memory = File::open(format!("/proc/{}/mem", self.0)).map_err(errno)?;
        memory.read_at(into, at).map_err(errno)
    }

    fn open(&self, folder: i32, path: Option<&Path>, flags: AtFlags) -> Result<OwnedFd, Errno> {
        let held = OFlags::PATH | OFlags::CLOEXEC;
        let base = || {
            let of = if folder == libc::AT_FDCWD { "cwd".to_owned() } else { format!("fd/{folder}") };
            open(format!("/proc/{}/{of}", self.0), held, Mode::empty())
        };
        let path = match path {
            None => return base(),
            Some(path) if path.as_os_str().is_empty() => {
                return if flags.contains(AtFlags::EMPTY_PATH) { base() } else { Err(Errno::NOENT) };
            }
            Some(path) => path,
        };
        let last = if flags.contains(AtFlags::SYMLINK_NOFOLLOW) { OFlags::NOFOLLOW } else { OFlags::empty() };
        // Links of /proc would be this process's own.
        let resolve = ResolveFlags::NO_MAGICLINKS;
        if path.is_absolute() {
            openat2(CWD, path, held | last, Mode::empty(), resolve)
        } else {
            openat2(base()?, path, held | last, Mode::empty(), resolve)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::PERM)
}
