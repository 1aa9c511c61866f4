//! How names are looked for, in small or capital letters. One pattern says which forms of a letter are the same, so that
//! SQLite's functions, PostgreSQL and the search in blobs find and replace the same, whatever a database's locale is.

use crate::codec::fold;
use regex::{NoExpand, Regex, RegexBuilder};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use steward_core::ports::{StoreError, StoreResult};

/// All letters that have a small or a capital form.
static CASED: LazyLock<String> = LazyLock::new(|| ('\0'..=char::MAX).filter(|letter| is_cased(*letter)).collect());

/// A pattern that finds each of these texts; both PostgreSQL and `regex` read it. `None`: there is nothing to find.
pub(crate) fn pattern_of(texts: &[String]) -> StoreResult<Option<String>> {
    // As they are, and as they are in folded columns, where some letters have become two. The longest first: PostgreSQL
    // takes the longest that fits, `regex` the first.
    let mut patterns = BTreeSet::new();
    for text in texts.iter().flat_map(|text| [text.clone(), fold(text)]).filter(|text| !text.is_empty()) {
        let pattern = text.chars().map(one_letter).collect::<StoreResult<String>>()?;
        patterns.insert((Reverse(text.chars().count()), pattern));
    }
    let patterns: Vec<String> = patterns.into_iter().map(|(_, pattern)| pattern).collect();
    Ok((!patterns.is_empty()).then(|| patterns.join("|")))
}

pub(crate) fn compiled(pattern: &str) -> StoreResult<Regex> {
    Regex::new(pattern).map_err(|error| unusable(&error))
}

/// Puts `stand_in`, as it is written, into the place of all that is found.
pub(crate) fn replaced<'t>(names: &Regex, text: &'t str, stand_in: &str) -> Cow<'t, str> {
    names.replace_all(text, NoExpand(stand_in))
}

/// A stand-in for `regexp_replace`, to which a backslash is a sign.
pub(crate) fn escaped(stand_in: &str) -> String {
    stand_in.replace('\\', "\\\\")
}

/// The functions of PostgreSQL that statements find and replace names with, as far as they need them: in `regexp_replace`
/// all is replaced, and the stand-in is [`escaped`].
pub(crate) fn add_functions(connection: &Connection, flags: FunctionFlags) -> rusqlite::Result<()> {
    connection.create_scalar_function("regexp_like", 2, flags, |call| {
        let names = pattern_in(call)?;
        Ok(call.get::<Option<String>>(0)?.map(|text| names.is_match(&text)))
    })?;
    connection.create_scalar_function("regexp_replace", 4, flags, |call| {
        let (names, stand_in) = (pattern_in(call)?, call.get::<String>(2)?.replace("\\\\", "\\"));
        Ok(call.get::<Option<String>>(0)?.map(|text| replaced(&names, &text, &stand_in).into_owned()))
    })
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// The second argument, compiled once for a statement.
fn pattern_in(call: &Context<'_>) -> rusqlite::Result<Arc<Regex>> {
    call.get_or_create_aux(1, |pattern| -> Result<Regex, BoxedError> { Ok(Regex::new(pattern.as_str()?)?) })
}

fn one_letter(letter: char) -> StoreResult<String> {
    if is_cased(letter) {
        let literal = regex::escape(&letter.to_string());
        let same = RegexBuilder::new(&literal).case_insensitive(true).build().map_err(|error| unusable(&error))?;
        let forms: String = same.find_iter(&CASED).map(|found| found.as_str()).collect();
        return Ok(format!("[{forms}]"));
    }
    let plain = letter.is_ascii_alphanumeric() || !letter.is_ascii();
    Ok(if plain { letter.to_string() } else { format!("\\u{:04x}", u32::from(letter)) })
}

fn is_cased(letter: char) -> bool {
    !letter.to_lowercase().eq([letter]) || !letter.to_uppercase().eq([letter])
}

fn unusable(error: &regex::Error) -> StoreError {
    StoreError::Backend(format!("a name can't be looked for: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{compiled, pattern_of, replaced};

    #[track_caller]
    fn check(names: &[&str], text: &str, expect: &str) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let names = compiled(&pattern_of(&names).unwrap().unwrap()).unwrap();
        assert_eq!(replaced(&names, text, "$x"), expect);
    }

    #[test]
    fn names_are_found_in_small_and_capital_letters() {
        check(&["Ann Lee"], "ann lee, ANN LEE; Ann-Lee", "$x, $x; Ann-Lee");
        check(&["a.b+c@x.org"], "A.B+C@X.ORG aXb+c@x.org", "$x aXb+c@x.org");
        check(&["Νίκος Σ"], "ΝΊΚΟΣ ς, νίκοσ σ", "$x, $x");
        check(&["İpek Öz"], "İPEK ÖZ i\u{307}pek öz", "$x $x");
        check(&["Max Groß"], "MAX GROẞ", "$x");
        check(&["ann@x.org", "ann@x.org Lee"], "Ann@x.org lee, ann@x.org", "$x, $x");
        assert_eq!(pattern_of(&[String::new()]).unwrap(), None);
    }

    #[test]
    fn a_pattern_has_only_signs_that_both_engines_know() {
        let pattern = pattern_of(&["A-1.[^]\\*é(x)?".to_owned()]).unwrap().unwrap();
        let expect = r"[Aa]\u002d1\u002e\u005b\u005e\u005d\u005c\u002a[Éé]\u0028[Xx]\u0029\u003f";
        assert_eq!(pattern, expect);
    }
}
