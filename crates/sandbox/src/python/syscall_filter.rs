//! The system calls of the warm interpreter and of a call: lists of permissions, since what both do is known.

use crate::helper::calls;
use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Memory, time, its own pipes, and ending.
const CALL: &[libc::c_long] = calls! {
    SYS_read SYS_write SYS_close SYS_fstat SYS_lseek SYS_munmap SYS_mremap SYS_madvise SYS_brk SYS_futex
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack SYS_restart_syscall SYS_sched_yield
    SYS_getrandom SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_getpid
    SYS_gettid SYS_exit SYS_exit_group
};
#[cfg(target_arch = "x86_64")]
const CALL_HERE: &[libc::c_long] = &[libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const CALL_HERE: &[libc::c_long] = &[];

/// What the warm interpreter does besides: fork, wait, kill what it forked, talk on its socket, and prepare a call.
const ZYGOTE: &[libc::c_long] = calls! {
    SYS_clone SYS_clone3 SYS_set_tid_address SYS_set_robust_list SYS_rseq SYS_wait4 SYS_waitid SYS_kill
    SYS_pidfd_open SYS_ppoll SYS_recvmsg SYS_sendmsg SYS_recvfrom SYS_sendto SYS_pread64 SYS_dup3 SYS_close_range
    SYS_prlimit64 SYS_prctl SYS_getppid SYS_getrusage SYS_getpriority SYS_setpriority
};
#[cfg(target_arch = "x86_64")]
const ZYGOTE_HERE: &[libc::c_long] =
    &[libc::SYS_fork, libc::SYS_poll, libc::SYS_dup2, libc::SYS_setrlimit, libc::SYS_getrlimit];
#[cfg(not(target_arch = "x86_64"))]
const ZYGOTE_HERE: &[libc::c_long] = &[];

/// In the kernel's form, as hexadecimal digits.
pub(super) fn call() -> Result<String, String> {
    build(&[CALL, CALL_HERE]).map(|program| hex(&program))
}

/// In the kernel's form, as hexadecimal digits.
pub(super) fn zygote() -> Result<String, String> {
    build(&[CALL, CALL_HERE, ZYGOTE, ZYGOTE_HERE]).map(|program| hex(&program))
}

fn build(lists: &[&[libc::c_long]]) -> Result<BpfProgram, String> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(|e| format!("{e}"))?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        lists.iter().flat_map(|list| list.iter().map(|nr| (*nr, vec![]))).collect();
    // Memory that is no file and never executable: what is loaded is all the code there will be.
    let not_executable = bits(2, libc::PROT_EXEC, 0)?;
    let anonymous = bits(3, libc::MAP_ANONYMOUS, libc::MAP_ANONYMOUS)?;
    rules.insert(libc::SYS_mmap, vec![rule(vec![not_executable.clone(), anonymous])?]);
    rules.insert(libc::SYS_mprotect, vec![rule(vec![not_executable])?]);
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, denied, SeccompAction::Allow, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())
}

fn bits(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, String> {
    let wide = |number: i32| u64::from(number.cast_unsigned());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(wide(mask)), wide(value))
        .map_err(|e| e.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|e| e.to_string())
}

fn hex(program: &BpfProgram) -> String {
    let bytes: Vec<u8> = program
        .iter()
        .flat_map(|op| op.code.to_ne_bytes().into_iter().chain([op.jt, op.jf]).chain(op.k.to_ne_bytes()))
        .collect();
    hex::encode(bytes)
}
