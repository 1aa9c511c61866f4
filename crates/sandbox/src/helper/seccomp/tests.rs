#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

/// What `attempt` answers in a thread under the filters, the only one that they hold for.
fn under<T: Send + 'static>(metadata: Metadata, scope: Signals, attempt: impl FnOnce() -> T + Send + 'static) -> T {
    let filters = build(metadata, Sockets::None, scope).unwrap();
    let confined = move || {
        rustix::thread::set_no_new_privs(true).unwrap();
        apply(&filters).unwrap();
        attempt()
    };
    std::thread::spawn(confined).join().unwrap()
}

fn errno(result: libc::c_long) -> i32 {
    if result == -1 { std::io::Error::last_os_error().raw_os_error().unwrap() } else { 0 }
}

fn call(arguments: [libc::c_long; 5]) -> i32 {
    let [nr, a, b, c, d] = arguments;
    // SAFETY: the tests below pass numbers, null pointers and strings of their own.
    errno(unsafe { libc::syscall(nr, a, b, c, d) })
}

fn text(text: &'static std::ffi::CStr) -> libc::c_long {
    text.as_ptr() as libc::c_long
}

#[test]
fn nobody_elses_limits_and_shares_are_reached() {
    let own = libc::c_long::from(std::process::id());
    let denied = [
        [libc::SYS_prlimit64, own, 0, 0, 0],
        [libc::SYS_prlimit64, 1, 0, 0, 0],
        [libc::SYS_sched_setaffinity, own, 0, 0, 0],
        [libc::SYS_sched_setscheduler, own, 0, 0, 0],
        [libc::SYS_sched_setparam, own, 0, 0, 0],
        [libc::SYS_sched_setattr, own, 0, 0, 0],
        [libc::SYS_setpriority, 0, own, 0, 0],
        [libc::SYS_setpriority, 1, 0, 0, 0],
        [libc::SYS_setpriority, 2, 4_294_967_290, 0, 0],
        [libc::SYS_ioprio_set, 1, own, 0, 0],
        [libc::SYS_ioprio_set, 3, 4_294_967_290, 0, 0],
        [libc::SYS_shmget, 0, 4096, 0o1600, 0],
        [libc::SYS_semget, 0, 1, 0o1600, 0],
        [libc::SYS_msgget, 0, 0o1600, 0, 0],
        [libc::SYS_mq_open, text(c"x"), 0, 0, 0],
    ];
    for metadata in [Metadata::Free, Metadata::Asked, Metadata::Denied] {
        let got = under(metadata, Signals::Scoped, move || denied.map(call));
        for (arguments, errno) in denied.iter().zip(got) {
            assert_eq!(errno, libc::EPERM, "{arguments:?}");
        }
    }
    // Its own limits and priority are its own business.
    let allowed = [[libc::SYS_prlimit64, 0, 0, 0, 0], [libc::SYS_setpriority, 0, 0, 19, 0]];
    assert_eq!(under(Metadata::Denied, Signals::Unscoped, move || allowed.map(call)), [0, 0]);
}

#[test]
fn no_way_to_make_a_file_gives_it_set_user_id_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = std::ffi::CString::new(dir.path().join("f").to_str().unwrap()).unwrap();
    let folder = std::ffi::CString::new(dir.path().to_str().unwrap()).unwrap();
    std::fs::write(dir.path().join("f"), "").unwrap();
    let got = under(Metadata::Free, Signals::Scoped, move || {
        let (path, folder) = (path.as_ptr() as libc::c_long, folder.as_ptr() as libc::c_long);
        let here = libc::c_long::from(libc::AT_FDCWD);
        let create = libc::c_long::from(libc::O_CREAT | libc::O_WRONLY);
        let unnamed = libc::c_long::from(libc::O_TMPFILE | libc::O_WRONLY);
        let regular = libc::c_long::from(libc::S_IFREG);
        [0o4755, 0o2755, 0o6755].map(|mode| {
            let mut calls = vec![
                [libc::SYS_fchmodat, here, path, mode, 0],
                [SYS_FCHMODAT2, here, path, mode, 0],
                [libc::SYS_fchmod, 0, mode, 0, 0],
                [libc::SYS_openat, here, path, create, mode],
                [libc::SYS_openat, here, folder, unnamed, mode],
                [libc::SYS_mknodat, here, path, regular | mode, 0],
            ];
            #[cfg(target_arch = "x86_64")]
            calls.extend([
                [libc::SYS_chmod, path, mode, 0, 0],
                [libc::SYS_creat, path, mode, 0, 0],
                [libc::SYS_open, path, create, mode, 0],
                [libc::SYS_mknod, path, regular | mode, 0, 0],
            ]);
            let answers: Vec<i32> = calls.into_iter().map(call).collect();
            (answers, call([libc::SYS_openat2, here, path, 0, 0]))
        })
    });
    for (answers, openat2) in got {
        assert!(answers.iter().all(|errno| *errno == libc::EPERM), "{answers:?}");
        assert_eq!(openat2, libc::ENOSYS);
    }
    // What only opens a file may hold anything where a mode would stand.
    let path = std::ffi::CString::new(dir.path().join("f").to_str().unwrap()).unwrap();
    let opened = under(Metadata::Denied, Signals::Scoped, move || {
        let here = libc::c_long::from(libc::AT_FDCWD);
        call([libc::SYS_openat, here, path.as_ptr() as libc::c_long, 0, 0o6755])
    });
    assert_eq!(opened, 0);
}

#[test]
fn signals_by_descriptor_end_with_the_scope() {
    let own = [
        [libc::SYS_fcntl, 0, libc::F_SETOWN.into(), 1, 0],
        [libc::SYS_fcntl, 0, F_SETOWN_EX.into(), 0, 0],
        [libc::SYS_fcntl, 0, F_SETSIG.into(), 9, 0],
        [libc::SYS_ioctl, 0, FIOSETOWN.cast_signed(), 0, 0],
        [libc::SYS_ioctl, 0, SIOCSPGRP.cast_signed(), 0, 0],
        [libc::SYS_kill, 1, 0, 0, 0],
    ];
    assert_eq!(under(Metadata::Denied, Signals::Unscoped, move || own.map(call)), [libc::EPERM; 6]);
    let flags = [libc::SYS_fcntl, 0, libc::F_GETFD.into(), 0, 0];
    assert_eq!(under(Metadata::Denied, Signals::Unscoped, move || call(flags)), 0);
}
