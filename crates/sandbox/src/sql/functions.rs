//! Replaces SQLite's functions that can take minutes over long values: here they take linear time, or check the clock.
#![expect(unsafe_code, reason = "values are converted by SQLite's own rules, which have no safe wrapper")]

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{CStr, c_int, c_void};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use memchr::memmem;
use rusqlite::{Connection, ffi};

use super::pattern::Pattern;

/// Longest pattern of LIKE and GLOB, bytes.
const PATTERN: usize = 1000;

type Body = fn(&Call<'_>) -> Answer;

enum Answer {
    Null,
    Int(i64),
    Text(Vec<u8>),
    Error(&'static str),
    Late,
    TooBig,
}

struct Function {
    body: Body,
    deadline: Arc<Deadline>,
    /// Largest value, bytes.
    most: usize,
}

pub(super) fn register(conn: &Connection, deadline: &Arc<Deadline>, most: usize) -> rusqlite::Result<()> {
    let all: [(&CStr, c_int, Body); 10] = [
        (c"unicode_lower", 1, unicode_lower),
        (c"like", 2, like),
        (c"like", 3, like),
        (c"glob", 2, glob),
        (c"instr", 2, instr),
        (c"replace", 3, replace),
        (c"trim", 2, |call| trim(call, true, true)),
        (c"ltrim", 2, |call| trim(call, true, false)),
        (c"rtrim", 2, |call| trim(call, false, true)),
        (c"json_pretty", 2, |_| Answer::Error("json_pretty takes no indentation here; leave the second argument out")),
    ];
    for (name, arguments, body) in all {
        let function = Box::new(Function { body, deadline: Arc::clone(deadline), most });
        // SAFETY: the connection is open; SQLite owns the box from here on and gives it back to `forget` once, also
        // where this call fails.
        let code = unsafe {
            ffi::sqlite3_create_function_v2(
                conn.handle(),
                name.as_ptr(),
                arguments,
                ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS,
                Box::into_raw(function).cast(),
                Some(call),
                None,
                None,
                Some(forget),
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        }
    }
    Ok(())
}

unsafe extern "C" fn forget(function: *mut c_void) {
    // SAFETY: it came from `Box::into_raw` in `register`, and SQLite calls this once.
    drop(unsafe { Box::from_raw(function.cast::<Function>()) });
}

unsafe extern "C" fn call(context: *mut ffi::sqlite3_context, count: c_int, values: *mut *mut ffi::sqlite3_value) {
    // SAFETY: SQLite gives `count` values that live as long as this call, and the pointer that `register` left.
    let (function, values) = unsafe {
        let function = &*ffi::sqlite3_user_data(context).cast::<Function>();
        let count = usize::try_from(count).unwrap_or(0);
        (function, slice::from_raw_parts(values, count))
    };
    let call = Call { function, values };
    // A panic must not run through SQLite.
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (function.body)(&call)));
    let answer = answer.unwrap_or(Answer::Error("the function failed"));
    // SAFETY: the context is the one of this call; texts are copied.
    unsafe {
        match answer {
            Answer::Null => ffi::sqlite3_result_null(context),
            Answer::Int(number) => ffi::sqlite3_result_int64(context, number),
            Answer::Text(bytes) => ffi::sqlite3_result_text64(
                context,
                bytes.as_ptr().cast(),
                bytes.len() as u64,
                ffi::SQLITE_TRANSIENT(),
                u8::try_from(ffi::SQLITE_UTF8).unwrap_or(1),
            ),
            Answer::Error(message) => ffi::sqlite3_result_error(
                context,
                message.as_ptr().cast(),
                c_int::try_from(message.len()).unwrap_or(c_int::MAX),
            ),
            Answer::Late => ffi::sqlite3_result_error_code(context, ffi::SQLITE_INTERRUPT),
            Answer::TooBig => ffi::sqlite3_result_error_toobig(context),
        }
    }
}

struct Call<'a> {
    function: &'a Function,
    values: &'a [*mut ffi::sqlite3_value],
}

impl Call<'_> {
    /// As SQLite converts it; `None` for NULL.
    fn bytes(&self, index: usize) -> Option<&[u8]> {
        // SAFETY: the value is valid during this call. The text is asked for before its length, and nothing converts
        // this value again while the slice is in use: each argument is read once.
        unsafe {
            let text = ffi::sqlite3_value_text(self.values[index]);
            if text.is_null() {
                return None;
            }
            let length = ffi::sqlite3_value_bytes(self.values[index]);
            Some(slice::from_raw_parts(text, usize::try_from(length).unwrap_or(0)))
        }
    }

    /// Up to a NUL character.
    fn text(&self, index: usize) -> Option<Cow<'_, str>> {
        let bytes = self.bytes(index)?;
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]))
    }

    fn pattern(&self) -> Result<Option<Cow<'_, str>>, Answer> {
        match self.text(0) {
            Some(text) if text.len() > PATTERN => Err(Answer::Error("LIKE or GLOB pattern too complex")),
            other => Ok(other),
        }
    }

    fn is_blob(&self, index: usize) -> bool {
        // SAFETY: the value is valid during this call.
        unsafe { ffi::sqlite3_value_type(self.values[index]) == ffi::SQLITE_BLOB }
    }

    fn blob(&self, index: usize) -> &[u8] {
        // SAFETY: as in `bytes`; an empty blob is a null pointer.
        unsafe {
            let data = ffi::sqlite3_value_blob(self.values[index]).cast::<u8>();
            let length = ffi::sqlite3_value_bytes(self.values[index]);
            if data.is_null() {
                return &[];
            }
            slice::from_raw_parts(data, usize::try_from(length).unwrap_or(0))
        }
    }

    fn matches(&self, pattern: &Pattern, text: &str) -> Answer {
        match pattern.matches(text, || self.function.deadline.over()) {
            Some(fits) => Answer::Int(i64::from(fits)),
            None => Answer::Late,
        }
    }
}

fn like(call: &Call<'_>) -> Answer {
    let pattern = match call.pattern() {
        Ok(pattern) => pattern,
        Err(error) => return error,
    };
    let mut escape = None;
    if call.values.len() == 3 {
        let Some(given) = call.text(2) else {
            return Answer::Null;
        };
        let mut characters = given.chars();
        escape = characters.next();
        if escape.is_none() || characters.next().is_some() {
            return Answer::Error("ESCAPE expression must be a single character");
        }
    }
    let (Some(pattern), Some(text)) = (pattern, call.text(1)) else {
        return Answer::Null;
    };
    call.matches(&Pattern::like(&pattern, escape), &text)
}

fn glob(call: &Call<'_>) -> Answer {
    match (call.pattern(), call.text(1)) {
        (Err(error), _) => error,
        (Ok(Some(pattern)), Some(text)) => call.matches(&Pattern::glob(&pattern), &text),
        _ => Answer::Null,
    }
}

fn begins(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

fn instr(call: &Call<'_>) -> Answer {
    if call.is_blob(0) && call.is_blob(1) {
        let at = memmem::find(call.blob(0), call.blob(1));
        return Answer::Int(at.map_or(0, |at| count(at) + 1));
    }
    let (Some(text), Some(sought)) = (call.bytes(0), call.bytes(1)) else {
        return Answer::Null;
    };
    let at = memmem::find(text, sought);
    Answer::Int(at.map_or(0, |at| count(text[..at].iter().filter(|byte| begins(**byte)).count()) + 1))
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn replace(call: &Call<'_>) -> Answer {
    let (Some(text), Some(sought)) = (call.bytes(0), call.bytes(1)) else {
        return Answer::Null;
    };
    if sought.first().is_none_or(|byte| *byte == 0) {
        return Answer::Text(text.to_vec());
    }
    let Some(by) = call.bytes(2) else {
        return Answer::Null;
    };
    let (mut done, mut from) = (Vec::with_capacity(text.len()), 0);
    for at in memmem::find_iter(text, sought) {
        done.extend_from_slice(&text[from..at]);
        done.extend_from_slice(by);
        from = at + sought.len();
        if done.len() > call.function.most {
            return Answer::TooBig;
        }
    }
    done.extend_from_slice(&text[from..]);
    if done.len() > call.function.most {
        return Answer::TooBig;
    }
    Answer::Text(done)
}

/// Small letters of every script: SQLite's `lower` knows those of ASCII.
fn unicode_lower(call: &Call<'_>) -> Answer {
    let Some(text) = call.bytes(0) else {
        return Answer::Null;
    };
    let lower = String::from_utf8_lossy(text).to_lowercase();
    if lower.len() > call.function.most { Answer::TooBig } else { Answer::Text(lower.into_bytes()) }
}

fn trim(call: &Call<'_>, front: bool, end: bool) -> Answer {
    let (Some(mut text), Some(set)) = (call.bytes(0), call.bytes(1)) else {
        return Answer::Null;
    };
    let set = &set[..memchr::memchr(0, set).unwrap_or(set.len())];
    let set: HashSet<&[u8]> = set.chunk_by(|_, next| !begins(*next)).collect();
    while front && !text.is_empty() {
        let length = text[1..].iter().take_while(|byte| !begins(**byte)).count() + 1;
        if !set.contains(&text[..length]) {
            break;
        }
        text = &text[length..];
    }
    while end && let Some(at) = text.iter().rposition(|byte| begins(*byte)) {
        if !set.contains(&text[at..]) {
            break;
        }
        text = &text[..at];
    }
    Answer::Text(text.to_vec())
}

/// Shared by a session and the functions of its connection. Never over without a session.
#[derive(Debug)]
pub(super) struct Deadline {
    /// Nanoseconds since the first use of any deadline.
    at: AtomicU64,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { at: AtomicU64::new(u64::MAX) }
    }
}

fn now() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

impl Deadline {
    pub fn set(&self, wall: Duration) {
        let at = now().saturating_add(wall).as_nanos();
        self.at.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn lift(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
    }

    pub fn over(&self) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        at != u64::MAX && now().as_nanos() >= u128::from(at)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Deadline, register};
    use rusqlite::Connection;
    use rusqlite::types::Value;
    use std::sync::Arc;

    #[test]
    fn small_letters_are_made_of_every_capital() {
        let ours = Connection::open_in_memory().unwrap();
        register(&ours, &Arc::new(Deadline::default()), 1000).unwrap();
        for (from, to) in [("'ÉMILE'", "émile"), ("'Ångström'", "ångström"), ("'ЖУК'", "жук"), ("12", "12")]
        {
            let found: String = ours.query_row(&format!("SELECT unicode_lower({from})"), [], |row| row.get(0)).unwrap();
            assert_eq!(found, to);
        }
        let null: Option<String> = ours.query_row("SELECT unicode_lower(NULL)", [], |row| row.get(0)).unwrap();
        assert_eq!(null, None);
    }

    /// Each expression with SQLite's own functions and with ours.
    #[test]
    fn they_answer_as_those_of_sqlite() {
        let theirs = Connection::open_in_memory().unwrap();
        let ours = Connection::open_in_memory().unwrap();
        register(&ours, &Arc::new(Deadline::default()), 1000).unwrap();
        let values = [
            "NULL",
            "''",
            "'a'",
            "'A'",
            "'abcabc'",
            "'Grüße'",
            "'ß'",
            "'ü'",
            "x'6162'",
            "x''",
            "3.5",
            "100",
            "'5'",
            "'%'",
            "'_b%'",
            "'%b_'",
            "'a%c'",
            "'a\\%'",
            "'*c'",
            "'[a-c]*'",
            "'[^a]*'",
            "'[]a]*'",
            "'[a'",
            "'a-'",
            "'  x  '",
            "'日本語'",
            "'本'",
            "'%ü%'",
            "'a[b]c'",
            "'.'",
            "char(0)",
            "'a' || char(0) || 'b'",
        ];
        let mut forms = Vec::new();
        for a in values {
            for b in values {
                forms.extend([
                    format!("{a} LIKE {b}"),
                    format!("{a} GLOB {b}"),
                    format!("instr({a}, {b})"),
                    format!("trim({a}, {b})"),
                    format!("ltrim({a}, {b})"),
                    format!("rtrim({a}, {b})"),
                    format!("replace({a}, {b}, 'xyz')"),
                    format!("replace('abcabc', {a}, {b})"),
                    format!("{a} LIKE {b} ESCAPE '\\'"),
                    format!("'a%c' LIKE {a} ESCAPE {b}"),
                ]);
            }
        }
        let mut answers = 0;
        for form in forms {
            let ask = |conn: &Connection| conn.query_row(&format!("SELECT {form}"), [], |row| row.get::<_, Value>(0));
            match (ask(&theirs), ask(&ours)) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a, b, "{form}");
                    answers += 1;
                }
                (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{form}"),
                (a, b) => panic!("{form}: {a:?} {b:?}"),
            }
        }
        assert!(answers > 8000, "{answers}");
    }
}
