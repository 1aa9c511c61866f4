//! The system calls of the warm interpreter and of a call: lists of permissions, since what both do is known.

use std::collections::BTreeMap;

use seccompiler::{SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use crate::helper::{all_of, calls, compile, condition};

/// Memory, time, its own pipes, and ending.
const CALL: &[libc::c_long] = calls! {
    SYS_read SYS_write SYS_close SYS_fstat SYS_lseek SYS_munmap SYS_mremap SYS_madvise SYS_brk SYS_futex
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack SYS_restart_syscall SYS_sched_yield
    SYS_getrandom SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_getpid
    SYS_gettid SYS_exit SYS_exit_group;
    x86_64: SYS_time
};

/// What the warm interpreter does besides: fork, wait, kill what it forked, talk on its socket, and prepare a call.
const ZYGOTE: &[libc::c_long] = calls! {
    SYS_clone SYS_clone3 SYS_set_tid_address SYS_set_robust_list SYS_rseq SYS_wait4 SYS_waitid SYS_kill
    SYS_pidfd_open SYS_ppoll SYS_recvmsg SYS_sendmsg SYS_recvfrom SYS_sendto SYS_pread64 SYS_dup3 SYS_close_range
    SYS_prlimit64 SYS_prctl SYS_getppid SYS_getrusage SYS_getpriority SYS_setpriority;
    x86_64: SYS_fork SYS_poll SYS_dup2 SYS_setrlimit SYS_getrlimit
};

pub(super) fn call() -> Result<String, String> {
    build(&[CALL])
}

pub(super) fn zygote() -> Result<String, String> {
    build(&[CALL, ZYGOTE])
}

/// In the kernel's form, as hexadecimal digits.
fn build(lists: &[&[libc::c_long]]) -> Result<String, String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        lists.iter().flat_map(|list| list.iter().map(|nr| (*nr, vec![]))).collect();
    // Memory that is no file and never executable: what is loaded is all the code there will be.
    let not_executable = bits(2, libc::PROT_EXEC, 0)?;
    let anonymous = bits(3, libc::MAP_ANONYMOUS, libc::MAP_ANONYMOUS)?;
    rules.insert(libc::SYS_mmap, vec![all_of(vec![not_executable.clone(), anonymous])?]);
    rules.insert(libc::SYS_mprotect, vec![all_of(vec![not_executable])?]);
    let program = compile(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)?;
    let bytes: Vec<u8> = program
        .iter()
        .flat_map(|op| op.code.to_ne_bytes().into_iter().chain([op.jt, op.jf]).chain(op.k.to_ne_bytes()))
        .collect();
    Ok(hex::encode(bytes))
}

fn bits(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, String> {
    let wide = |number: i32| u64::from(number.cast_unsigned());
    condition(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(wide(mask)), wide(value))
}
