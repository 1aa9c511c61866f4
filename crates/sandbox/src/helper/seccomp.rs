//! The system calls that a confined program may not use: denials, since what programs need varies too much for a list
//! of permissions. They fail with EPERM rather than kill, so that programs that merely try them carry on.
#![cfg_attr(test, expect(unsafe_code, reason = "system calls as a program makes them"))]

use super::calls;
use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{self, Dword, Qword};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// Denied whatever their arguments.
const DENIED: &[libc::c_long] = calls! {
    // other processes' memory and descriptors
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_kcmp SYS_pidfd_getfd
    SYS_perf_event_open
    // namespaces and mounts
    SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_unshare SYS_setns SYS_open_tree SYS_move_mount SYS_fsopen
    SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr SYS_open_by_handle_at SYS_name_to_handle_at
    SYS_fanotify_init SYS_quotactl SYS_quotactl_fd SYS_swapon SYS_swapoff
    // kernel interfaces with a long record of bugs
    SYS_bpf SYS_userfaultfd SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_keyctl SYS_add_key
    SYS_request_key SYS_personality SYS_vhangup SYS_lookup_dcookie SYS_nfsservctl
    // the machine
    SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_kexec_file_load SYS_reboot SYS_syslog
    SYS_acct SYS_sethostname SYS_setdomainname SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_clock_adjtime
    // memory, semaphores and queues by number, which every process of the user shares and no path rule covers
    SYS_shmget SYS_shmat SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl SYS_msgget SYS_msgsnd SYS_msgrcv
    SYS_msgctl SYS_mq_open SYS_mq_unlink;
    x86_64: SYS_iopl SYS_ioperm SYS_modify_ldt SYS_uselib SYS_ustat SYS_sysfs SYS__sysctl
};

/// The first argument names a process; 0 is the caller itself, and the only one allowed. Only namespaces keep a
/// user's processes apart here: a limit of zero CPU seconds is as good as a signal.
const OF_ITSELF: &[libc::c_long] = calls! {
    SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
    SYS_migrate_pages SYS_move_pages
};

/// Calls with a mode: its argument, and that of the flags that say whether it counts.
const MODES: &[(libc::c_long, u8, Option<u8>)] = &[
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (SYS_FCHMODAT2, 2, None),
    (libc::SYS_openat, 3, Some(2)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, Some(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, None),
];

/// Calls that create a node of the file system, and the argument of the mode.
const NODES: &[(libc::c_long, u8)] = &[
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Sockets of any kind; socketpair is treated below.
const SOCKETS: &[libc::c_long] = calls! { SYS_socket SYS_connect SYS_bind SYS_listen SYS_accept SYS_accept4 };

/// Landlock does not govern who owns a file and who may use it, so its tier loses the calls that change that.
const METADATA: &[libc::c_long] = calls! {
    SYS_fchown SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr
    SYS_fremovexattr;
    x86_64: SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat
};

/// In that tier these calls go only through the supervisor, which checks where the file is.
const MODE_CHANGES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
];

/// Signals reach outside if Landlock cannot scope them (before ABI 6).
const SIGNALS: &[libc::c_long] = calls! {
    SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_send_signal SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo
};

pub(super) const SYS_FCHMODAT2: libc::c_long = 452;
const RETURN: u16 = 0x06; // BPF_RET | BPF_K
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
const FIOSETOWN: libc::c_ulong = 0x8901;
const SIOCSPGRP: libc::c_ulong = 0x8902;

/// The last call known when this was written (file_setattr, 6.17). Later ones get ENOSYS.
const LAST_KNOWN: u32 = 469;

const CLONE_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    None,
    /// Sockets of the internet's families.
    Internet,
    /// Also local sockets, since its loopback and their names are its own.
    Loopback,
}

/// Who decides on the modes and times of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    /// Only the mounts that the program sees.
    Free,
    /// The supervisor, call by call.
    Asked,
    /// They can't be changed.
    Denied,
}

/// Whether a namespace, or Landlock of ABI 6, keeps signals inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signals {
    Scoped,
    Unscoped,
}

/// All of them apply.
pub(super) fn build(metadata: Metadata, sockets: Sockets, scope: Signals) -> Result<Vec<BpfProgram>, String> {
    let mut rules: Rules = BTreeMap::new();
    rules.extend(DENIED.iter().map(|nr| (*nr, vec![])));
    let families: &[i32] = match sockets {
        Sockets::None => &[],
        Sockets::Internet => &[libc::AF_INET, libc::AF_INET6],
        Sockets::Loopback => &[libc::AF_INET, libc::AF_INET6, libc::AF_UNIX],
    };
    if families.is_empty() {
        rules.extend(SOCKETS.iter().map(|nr| (*nr, vec![])));
    } else {
        // Any other family: what reaches into the kernel, the local machine or the link is not the network.
        let differs = |family: &i32| condition(0, Dword, SeccompCmpOp::Ne, unsigned(*family));
        rules.insert(libc::SYS_socket, vec![all_of(families.iter().map(differs).collect::<Result<_, _>>()?)?]);
    }
    if metadata != Metadata::Free {
        rules.extend(METADATA.iter().map(|nr| (*nr, vec![])));
    }
    if metadata == Metadata::Denied {
        rules.extend(changes_of_metadata()?);
    }
    rules.insert(libc::SYS_clone, one_of(0, CLONE_NAMESPACES)?);
    // A datagram socket of a pair can send to any socket of the file system.
    let datagram = rule(1, Dword, SeccompCmpOp::MaskedEq(0xf), unsigned(libc::SOCK_DGRAM))?;
    let not_unix = rule(0, Dword, SeccompCmpOp::Ne, unsigned(libc::AF_UNIX))?;
    rules.insert(libc::SYS_socketpair, vec![datagram, not_unix]);
    // Typing into somebody else's terminal.
    let typing = |request: libc::c_ulong| rule(1, Dword, SeccompCmpOp::Eq, request);
    rules.insert(libc::SYS_ioctl, vec![typing(libc::TIOCSTI)?, typing(0x541c)?]);
    for call in OF_ITSELF {
        rules.insert(*call, vec![rule(0, Dword, SeccompCmpOp::Ne, 0)?]);
    }
    // The first argument says "a process" (1 for I/O priorities), the second is the caller itself.
    for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
        let kind = rule(0, Dword, SeccompCmpOp::Ne, process)?;
        let other = rule(1, Dword, SeccompCmpOp::Ne, 0)?;
        rules.insert(call, vec![kind, other]);
    }
    // Devices and set-user-id bits on files of the workspace, which its owner may start outside.
    for (call, mode) in NODES {
        let mut kinds = vec![device(*mode, libc::S_IFCHR)?, device(*mode, libc::S_IFBLK)?];
        kinds.extend(privileged(*mode, None)?);
        rules.insert(*call, kinds);
    }
    for (call, mode, flags) in MODES {
        if !rules.contains_key(call) {
            rules.insert(*call, privileged(*mode, *flags)?);
        }
    }
    // A signal of any kind to any process of the user, when a descriptor becomes ready.
    if scope == Signals::Unscoped {
        let command = |n: i32| rule(1, Dword, SeccompCmpOp::Eq, unsigned(n));
        rules.insert(libc::SYS_fcntl, vec![command(libc::F_SETOWN)?, command(F_SETOWN_EX)?, command(F_SETSIG)?]);
        rules.entry(libc::SYS_ioctl).or_default().extend([typing(FIOSETOWN)?, typing(SIOCSPGRP)?]);
        rules.extend(SIGNALS.iter().map(|nr| (*nr, vec![])));
    }
    let denied = deny(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()))?;
    // Their arguments are in memory, out of a filter's reach; programs fall back to clone and openat.
    let in_memory = [(libc::SYS_clone3, vec![]), (libc::SYS_openat2, vec![])].into();
    let absent = deny(in_memory, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))?;
    Ok(vec![only_known_calls(), absent, denied])
}

/// Setting times is denied only by path; by descriptor (a null path) archivers do it to new files.
fn changes_of_metadata() -> Result<Rules, String> {
    let by_path = rule(1, Qword, SeccompCmpOp::Ne, 0)?;
    let modes = MODE_CHANGES.iter().map(|nr| (*nr, vec![]));
    Ok(modes.chain([(libc::SYS_utimensat, vec![by_path])]).collect())
}

pub(super) fn asking() -> Result<BpfProgram, String> {
    // The library has no such action, so another one stands for it first.
    let mut program = deny(changes_of_metadata()?, SeccompAction::Log)?;
    for op in &mut program {
        if op.code == RETURN && op.k == libc::SECCOMP_RET_LOG {
            op.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// Applies for good to this process and its children.
pub(super) fn apply(filters: &[BpfProgram]) -> Result<(), String> {
    filters.iter().try_for_each(|f| seccompiler::apply_filter(f)).map_err(|e| e.to_string())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn deny(rules: Rules, how: SeccompAction) -> Result<BpfProgram, String> {
    compile(rules, SeccompAction::Allow, how)
}

/// `matched` is for calls that a rule fits, `other` for all else.
pub(crate) fn compile(rules: Rules, other: SeccompAction, matched: SeccompAction) -> Result<BpfProgram, String> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(|e| format!("{e}"))?;
    let filter = SeccompFilter::new(rules, other, matched, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())
}

pub(crate) fn condition(
    argument: u8,
    width: SeccompCmpArgLen,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, width, op, value).map_err(|e| e.to_string())
}

pub(crate) fn all_of(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|e| e.to_string())
}

fn rule(argument: u8, width: SeccompCmpArgLen, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, String> {
    all_of(vec![condition(argument, width, op, value)?])
}

fn one_of(argument: u8, flags: &[i32]) -> Result<Vec<SeccompRule>, String> {
    let flag = |f: &i32| {
        let bit = unsigned(*f);
        rule(argument, Qword, SeccompCmpOp::MaskedEq(bit), bit)
    };
    flags.iter().map(flag).collect()
}

/// A mode with a set-user-id or set-group-id bit; if `flags` is given, only in calls that create a file.
fn privileged(mode: u8, flags: Option<u8>) -> Result<Vec<SeccompRule>, String> {
    let has = |argument: u8, bits: u64| condition(argument, Dword, SeccompCmpOp::MaskedEq(bits), bits);
    // O_TMPFILE includes O_DIRECTORY, which alone says nothing.
    let making = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];
    let mut found = Vec::new();
    for bit in [libc::S_ISUID, libc::S_ISGID] {
        let bit = has(mode, u64::from(bit))?;
        let Some(flags) = flags else {
            found.push(vec![bit]);
            continue;
        };
        for make in making {
            found.push(vec![bit.clone(), has(flags, unsigned(make))?]);
        }
    }
    found.into_iter().map(all_of).collect()
}

fn device(argument: u8, kind: libc::mode_t) -> Result<SeccompRule, String> {
    rule(argument, Dword, SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT)), u64::from(kind))
}

fn unsigned(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// `if nr > LAST_KNOWN return ENOSYS`. On x86-64 this also closes the x32 calls, whose numbers have bit 30 set and
/// would pass a list of the ordinary ones.
fn only_known_calls() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, offset 0 of seccomp_data
    const JUMP_GREATER: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
    let op = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        op(LOAD_NUMBER, 0, 0, 0),
        op(JUMP_GREATER, 0, 1, LAST_KNOWN),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests;
