//! What the allocator keeps of memory that was freed.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "an extension of glibc, which has no safe wrapper")
)]

/// Gives it back to the system. Without this, a start and a model that was put away would take 10 MB and more for as
/// long as the program runs. Takes some milliseconds, and does nothing where the allocator is another one.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: it takes the allocator's own locks, and what is in use stays where it is.
        unsafe { malloc_trim(0) };
    }
}
