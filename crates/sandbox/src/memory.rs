//! How the C library keeps memory that was freed.

/// From this length on a piece of memory goes back to the system as soon as it is freed.
#[cfg(target_env = "gnu")]
const GIVEN_BACK_BYTES: libc::c_int = 256 * 1024;

/// Keeps the memory of this process near what it uses, for servers that take many large bodies at once. To be called before
/// the first thread begins. glibc otherwise raises the length from which memory goes back up to 32 MiB, by what was freed,
/// and has eight arenas a core, each with its own remains: 469 MB became 341 under 1 GB of bodies, at the same speed.
pub fn give_back_early() {
    #[cfg(target_env = "gnu")]
    {
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 16));
        let arenas = libc::c_int::try_from(cores).unwrap_or(2);
        // SAFETY: `mallopt` only sets numbers of the allocator, and takes its own lock.
        #[expect(unsafe_code, reason = "the allocator is set through C")]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, arenas);
            libc::mallopt(libc::M_MMAP_THRESHOLD, GIVEN_BACK_BYTES);
        }
    }
}
