//! Sentences and what they mean. A sentence that isn't read is asked about; never is another time read.

use jiff::Timestamp as Instant;
use steward_core::Timestamp;
use steward_schedule::{Language, ReadContext, Reading, Timing, Zones, read_words};

use super::support::at;

/// Sunday, 29 November 2026, 16:30 in Berlin.
const NOW: &str = "2026-11-29T15:30:00Z";

pub fn read(text: &str, language: Language) -> Reading {
    let context = ReadContext { now: at(NOW), zone: "Europe/Berlin", language };
    read_words(text, &context, &Zones::bundled())
}

/// The next three by the wall clock, `MM-DD HH:MM`.
fn next(reading: &Reading) -> Result<Vec<String>, String> {
    match reading {
        Reading::Timing(found) => {
            let plan = found.time.plan("", &Zones::bundled()).unwrap();
            let list = plan.list_next(at(NOW), 3);
            Ok(list.iter().map(|found| plan.show(found.nominal)[5..16].replace('T', " ")).collect())
        }
        Reading::Question(question) => Err(question.about.clone()),
    }
}

fn check(cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let reading = read(text, Language::English);
        match next(&reading) {
            Ok(found) if found == *expected => {}
            Ok(found) => wrong.push(format!("{text}: {found:?} instead of {expected:?}")),
            Err(about) => wrong.push(format!("{text}: asked about {about}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_sentences() {
    check(&[
        ("every weekday at 8", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("weekdays at 8:15", &["11-30 08:15", "12-01 08:15", "12-02 08:15"]),
        ("daily at 7:30 pm", &["11-29 19:30", "11-30 19:30", "12-01 19:30"]),
        ("every day at 8 and 17:30", &["11-29 17:30", "11-30 08:00", "11-30 17:30"]),
        ("at 9, 12 and 15:00 every day", &["11-30 09:00", "11-30 12:00", "11-30 15:00"]),
        ("last Friday of the month at 9am", &["12-25 09:00", "01-29 09:00", "02-26 09:00"]),
        ("on the last Friday of every month at 17:00", &["12-25 17:00", "01-29 17:00", "02-26 17:00"]),
        ("every first Monday at 8", &["12-07 08:00", "01-04 08:00", "02-01 08:00"]),
        ("the first and third Monday of the month at noon", &["12-07 12:00", "12-21 12:00", "01-04 12:00"]),
        ("every 15 minutes", &["11-29 16:45", "11-29 17:00", "11-29 17:15"]),
        ("every two hours", &["11-29 18:00", "11-29 20:00", "11-29 22:00"]),
        ("every half hour", &["11-29 17:00", "11-29 17:30", "11-29 18:00"]),
        ("hourly", &["11-29 17:00", "11-29 18:00", "11-29 19:00"]),
        ("every 90 minutes", &["11-29 18:00", "11-29 19:30", "11-29 21:00"]),
        ("every 15 minutes between 9 and 17 on weekdays", &["11-30 09:00", "11-30 09:15", "11-30 09:30"]),
        ("every hour from 9am to 5pm Monday to Friday", &["11-30 09:00", "11-30 10:00", "11-30 11:00"]),
        ("every other Monday at 10", &["11-30 10:00", "12-14 10:00", "12-28 10:00"]),
        ("every 2 weeks on Friday at 16:00", &["12-04 16:00", "12-18 16:00", "01-01 16:00"]),
        ("every three days at 6", &["11-30 06:00", "12-03 06:00", "12-06 06:00"]),
        ("every second day at 6", &["11-30 06:00", "12-02 06:00", "12-04 06:00"]),
        ("quarterly on the first day at 6", &["01-01 06:00", "04-01 06:00", "07-01 06:00"]),
        ("on the last day of the quarter at 18:00", &["12-31 18:00", "03-31 18:00", "06-30 18:00"]),
        ("tomorrow at noon", &["11-30 12:00"]),
        ("tomorrow morning at 9", &["11-30 09:00"]),
        ("today at 11 pm", &["11-29 23:00"]),
        ("tonight at 9", &["11-29 21:00"]),
        ("in 20 minutes", &["11-29 16:50"]),
        ("24 December at 18:00", &["12-24 18:00"]),
        ("on December 24th, 2026 at 6 pm", &["12-24 18:00"]),
        ("2027-02-01 at 8:00", &["02-01 08:00"]),
        ("every year on 24 December at 8", &["12-24 08:00", "12-24 08:00", "12-24 08:00"]),
        ("on the 1st and 15th of each month at 18:30", &["12-01 18:30", "12-15 18:30", "01-01 18:30"]),
        ("monthly on the 15th at half past 8", &["12-15 08:30", "01-15 08:30", "02-15 08:30"]),
        ("on the last weekday of the month at 12", &["11-30 12:00", "12-31 12:00", "01-29 12:00"]),
        ("on the first business day of the month at 9", &["12-01 09:00", "01-01 09:00", "02-01 09:00"]),
        ("every second business day of the month at 9", &["12-02 09:00", "01-04 09:00", "02-02 09:00"]),
        ("every evening at 8", &["11-29 20:00", "11-30 20:00", "12-01 20:00"]),
        ("every night at 2", &["11-30 02:00", "12-01 02:00", "12-02 02:00"]),
        ("every night at 11", &["11-29 23:00", "11-30 23:00", "12-01 23:00"]),
        ("every day at midnight", &["11-30 00:00", "12-01 00:00", "12-02 00:00"]),
        ("Mondays and Thursdays at 9", &["11-30 09:00", "12-03 09:00", "12-07 09:00"]),
        ("every day at 8 and 9 am", &["11-30 08:00", "11-30 09:00", "12-01 08:00"]),
        ("every hour on the hour", &["11-29 17:00", "11-29 18:00", "11-29 19:00"]),
        ("every hour from 22:00 to midnight", &["11-29 22:00", "11-29 23:00", "11-30 00:00"]),
        ("every 20 minutes from 22:00 to 6:00", &["11-29 22:00", "11-29 22:20", "11-29 22:40"]),
        ("every 45 minutes between 9 and 17", &["11-30 09:00", "11-30 09:45", "11-30 10:30"]),
        ("every January 1st at 10", &["01-01 10:00", "01-01 10:00", "01-01 10:00"]),
        ("on the first and last day of the month at 8", &["11-30 08:00", "12-01 08:00", "12-31 08:00"]),
        ("every Friday at 2 and 14", &["12-04 02:00", "12-04 14:00", "12-11 02:00"]),
        ("every Friday at 3:00", &["12-04 03:00", "12-11 03:00", "12-18 03:00"]),
        ("every other weekend at 10", &["12-05 10:00", "12-06 10:00", "12-19 10:00"]),
        ("from Friday to Monday at 8", &["11-30 08:00", "12-04 08:00", "12-05 08:00"]),
        ("every minute between 8 and 9", &["11-30 08:00", "11-30 08:01", "11-30 08:02"]),
        ("2026-12-01 at 08:00 in Asia/Tokyo", &["12-01 08:00"]),
        ("every day at 8 A.M. and 5 P.M.", &["11-29 17:00", "11-30 08:00", "11-30 17:00"]),
        ("every weekend at 10", &["12-05 10:00", "12-06 10:00", "12-12 10:00"]),
        ("every Monday at quarter to 9", &["11-30 08:45", "12-07 08:45", "12-14 08:45"]),
        ("every Monday in January at 9", &["01-04 09:00", "01-11 09:00", "01-18 09:00"]),
        ("every weekday at 8 in America/New_York", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("every day at 8:00 UTC", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("every 2 hours on weekdays", &["11-30 00:00", "11-30 02:00", "11-30 04:00"]),
        ("every two months on the 1st at 7", &["12-01 07:00", "02-01 07:00", "04-01 07:00"]),
        ("mon-fri 9:30", &["11-30 09:30", "12-01 09:30", "12-02 09:30"]),
    ]);
}

#[test]
fn german_sentences() {
    check(&[
        ("jeden Werktag um 8", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("werktags um 8 Uhr", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("alle zwei Stunden", &["11-29 18:00", "11-29 20:00", "11-29 22:00"]),
        ("alle 15 Minuten zwischen 9 und 17 Uhr an Werktagen", &["11-30 09:00", "11-30 09:15", "11-30 09:30"]),
        ("am 1. und 15. jeden Monats um 18:30", &["12-01 18:30", "12-15 18:30", "01-01 18:30"]),
        ("jeden Monat am 15. um 8 Uhr", &["12-15 08:00", "01-15 08:00", "02-15 08:00"]),
        ("um 8 Uhr jeden Monat am 15.", &["12-15 08:00", "01-15 08:00", "02-15 08:00"]),
        ("am letzten Freitag im Monat um 17 Uhr", &["12-25 17:00", "01-29 17:00", "02-26 17:00"]),
        ("montags und donnerstags um 9:15", &["11-30 09:15", "12-03 09:15", "12-07 09:15"]),
        ("montags bis freitags um 7.45 Uhr", &["11-30 07:45", "12-01 07:45", "12-02 07:45"]),
        ("täglich um halb acht", &["11-30 07:30", "12-01 07:30", "12-02 07:30"]),
        ("jeden Abend um 8", &["11-29 20:00", "11-30 20:00", "12-01 20:00"]),
        ("jeden Morgen um sieben", &["11-30 07:00", "12-01 07:00", "12-02 07:00"]),
        ("morgen um 8", &["11-30 08:00"]),
        ("morgen Mittag", &["11-30 12:00"]),
        ("morgen früh um 6", &["11-30 06:00"]),
        ("heute Abend um 8", &["11-29 20:00"]),
        ("übermorgen um 14:00", &["12-01 14:00"]),
        ("in zwei Stunden", &["11-29 18:30"]),
        ("am 24. Dezember um 18 Uhr", &["12-24 18:00"]),
        ("am 24.12. um 18 Uhr", &["12-24 18:00"]),
        ("24.12.2026 um 8 Uhr 30", &["12-24 08:30"]),
        ("um 8 Uhr am 24.12.", &["12-24 08:00"]),
        ("jährlich am 1. Januar um 9", &["01-01 09:00", "01-01 09:00", "01-01 09:00"]),
        ("vierteljährlich am ersten Tag um 6", &["01-01 06:00", "04-01 06:00", "07-01 06:00"]),
        ("am letzten Werktag des Quartals um 16 Uhr", &["12-31 16:00", "03-31 16:00", "06-30 16:00"]),
        ("alle zwei Wochen am Montag um 8", &["11-30 08:00", "12-14 08:00", "12-28 08:00"]),
        ("alle 14 Tage freitags um 9", &["12-04 09:00", "12-18 09:00", "01-01 09:00"]),
        ("in einer halben Stunde", &["11-29 17:00"]),
        ("in 3 Tagen um 8", &["12-02 08:00"]),
        ("in two weeks at 9:30", &["12-13 09:30"]),
        ("alle 3 Tage um 6 Uhr", &["11-30 06:00", "12-03 06:00", "12-06 06:00"]),
        ("jeden zweiten Tag um 6 Uhr", &["11-30 06:00", "12-02 06:00", "12-04 06:00"]),
        ("jeden zweiten Montag im Monat um 9", &["12-14 09:00", "01-11 09:00", "02-08 09:00"]),
        ("jede halbe Stunde", &["11-29 17:00", "11-29 17:30", "11-29 18:00"]),
        ("stündlich von 8 bis 18 Uhr", &["11-29 17:00", "11-29 18:00", "11-30 08:00"]),
        ("jeden Tag um Mitternacht", &["11-30 00:00", "12-01 00:00", "12-02 00:00"]),
        ("8 Uhr abends jeden Freitag", &["12-04 20:00", "12-11 20:00", "12-18 20:00"]),
        ("Mo-Fr um 8", &["11-30 08:00", "12-01 08:00", "12-02 08:00"]),
        ("jeden Samstag und Sonntag um viertel nach 10", &["12-05 10:15", "12-06 10:15", "12-12 10:15"]),
        ("am vorletzten Freitag des Monats um 9 Uhr", &["12-18 09:00", "01-22 09:00", "02-19 09:00"]),
    ]);
}

#[test]
fn what_is_unclear_is_asked() {
    let cases = [
        ("", "empty"),
        ("at 8", "once_or_always"),
        ("at 8 or 9 every day", "either_or"),
        ("every Monday or Tuesday at 8", "either_or"),
        ("often", "unknown_word"),
        ("regularly at 8", "unknown_word"),
        ("every day at 8 except Sundays", "unknown_word"),
        ("not on Mondays at 8", "unknown_word"),
        ("every night", "time_missing"),
        ("every weekday", "time_missing"),
        ("last Friday of the month", "time_missing"),
        ("tomorrow", "time_missing"),
        ("every month on the 31st at 8", "day_not_in_each_month"),
        ("every 29 February at 8", "day_not_in_each_month"),
        ("every fifth Monday of the month at 8", "day_not_in_each_month"),
        ("every second Monday at 8", "nth_or_alternate"),
        ("jeden zweiten Montag um 8", "nth_or_alternate"),
        ("on Monday at 8", "once_or_always"),
        ("am Montag um 8", "once_or_always"),
        ("on the 15th at 8", "once_or_always"),
        ("every week at 8", "day_missing"),
        ("monthly at 8", "day_missing"),
        ("quarterly at 8", "day_missing"),
        ("every Friday at midnight", "midnight_unclear"),
        ("tomorrow at midnight", "midnight_unclear"),
        ("tonight at 2", "midnight_unclear"),
        ("every day at 8 am and 5", "hour_unclear"),
        ("every day at 11 and 1 am", "hour_unclear"),
        ("every hour from 18:00 to midnight on Mondays", "window_unclear"),
        ("every weekday at 8 and weekends at 10", "two_timings"),
        ("on weekdays at 8 and on Saturdays at 10", "two_timings"),
        ("every weekday at 8 and 10 on weekends", "two_timings"),
        ("first Monday, third Tuesday of the month at 8", "two_timings"),
        ("every day in 2027 at 8", "misplaced"),
        ("every day at 8 for two weeks", "unknown_word"),
        ("every month on Monday at 8", "day_missing"),
        ("every March at 8", "day_missing"),
        ("8 every 2 days", "misplaced"),
        ("every 8", "contradiction"),
        ("every day from Monday at 8", "misplaced"),
        ("every day on Monday at 8", "contradiction"),
        ("every other weekday at 8", "not_possible"),
        ("every monday at 8,", "misplaced"),
        ("every monday at 1830", "hour_unclear"),
        ("every hour at night", "contradiction"),
        ("at 8 on the 1st of January, April, July and October", "contradiction"),
        ("every Friday at 3", "hour_unclear"),
        ("freitags um eins", "hour_unclear"),
        ("every hour between 1 and 5", "window_unclear"),
        ("every day on 8", "misplaced"),
        ("jeden Monat am 15 um 8", "misplaced"),
        ("every Friday the 13th at 9", "contradiction"),
        ("every Tuesday of the month at 9", "misplaced"),
        ("every hour at 30", "hour_unclear"),
        ("tomorrow 8", "misplaced"),
        ("11/30/2026 at 8", "unknown_word"),
        ("jeden Tag um 12 Uhr nachts", "hour_unclear"),
        ("täglich gegen Mittag", "unknown_word"),
        ("in 3 hours at 8", "contradiction"),
        ("in 0 Tagen um 8", "contradiction"),
        ("every day at 9 and 5", "hour_unclear"),
        ("every day at noon and 5", "hour_unclear"),
        ("every hour between 9 and 5", "window_unclear"),
        ("every hour between 9 and 5 pm", "window_unclear"),
        ("every day between 9 and 17", "window_unclear"),
        ("every day at 25", "hour_unclear"),
        ("every day at 8:75", "hour_unclear"),
        ("every day at 24:00", "hour_unclear"),
        ("every day at 13 pm", "hour_unclear"),
        ("every morning at 15", "hour_unclear"),
        ("every evening at 8 am", "hour_unclear"),
        ("every day at 9 and 5 pm", "hour_unclear"),
        ("um halb eins jeden Tag", "hour_unclear"),
        ("Mondays at 8 and Thursdays at 9", "two_timings"),
        ("Mondays at 8, Thursdays at 9", "two_timings"),
        ("every day at 8 and every 2 hours", "two_timings"),
        ("tomorrow at 8 and 12", "two_timings"),
        ("every other Monday at 8 and 9:30", "two_timings"),
        ("tomorrow every day at 8", "contradiction"),
        ("every Monday on the 15th at 8", "contradiction"),
        ("every 7 hours on weekdays", "not_possible"),
        ("every 2 hours at 8", "contradiction"),
        ("on 2026-02-30 at 8", "no_such_day"),
        ("every month on the 32nd at 8", "no_such_day"),
        ("tomorrow at 8 in Asia/Tokyo", "day_missing"),
        ("29 November at 8", "past"),
        ("today at 8", "past"),
        ("2020-01-01 at 8", "past"),
        ("every 15th at 8", "misplaced"),
        ("next Monday at 8", "unknown_word"),
        ("every day at 8 until Friday", "misplaced"),
        ("biweekly on Monday at 8", "unknown_word"),
        ("around 8 every day", "unknown_word"),
        ("twice a day", "unknown_word"),
        ("every few hours", "unknown_word"),
        ("every -5 minutes", "unknown_word"),
        ("every 0 minutes", "contradiction"),
        ("0 8 * * *", "unknown_word"),
        ("gegen 8 Uhr jeden Tag", "unknown_word"),
        ("ab und zu", "unknown_word"),
        ("every day at 8 EST", "unknown_word"),
        ("every day at 12/24/2026", "unknown_word"),
        ("every day except 8", "unknown_word"),
        ("every day at eight or so", "unknown_word"),
        ("in two days", "time_missing"),
    ];
    let mut wrong = Vec::new();
    for (text, about) in cases {
        let reading = read(text, Language::English);
        let found = next(&reading);
        if found != Err(about.to_owned()) {
            wrong.push(format!("{text}: {found:?} instead of {about}"));
        }
        let Reading::Question(question) = reading else { continue };
        assert!(question.text.ends_with(['?', '.']) && !question.text.contains('{'), "{text}: {}", question.text);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn days_that_nobody_said_repeat_are_offered_each_week() {
    for (text, offered) in [
        ("Mon, Wed and Fri at 9:30", "every Monday, Wednesday and Friday at 09:30 in Europe/Berlin"),
        ("Di und Do um 14 Uhr", "every Tuesday and Thursday at 14:00 in Europe/Berlin"),
        ("on Monday at 8", "every Monday at 08:00 in Europe/Berlin"),
    ] {
        let Reading::Question(question) = read(text, Language::English) else { panic!("{text}") };
        let offers: Vec<&str> = question.choices.iter().map(|choice| choice.description.as_str()).collect();
        assert_eq!((question.about.as_str(), &offers[..]), ("once_or_always", &[offered][..]), "{text}");
    }
}

#[test]
fn choices_are_offered_where_a_month_lacks_the_day() {
    let Reading::Question(question) = read("every month on the 31st at 8", Language::English) else { panic!() };
    let descriptions: Vec<&str> = question.choices.iter().map(|choice| choice.description.as_str()).collect();
    assert_eq!(
        descriptions,
        [
            "on the 31st of the month at 08:00 in Europe/Berlin",
            "every month on the 31st of the month at 08:00 in Europe/Berlin, where the month lacks the day, on its last day",
        ]
    );
    let Reading::Timing(found) = read("am 31. Januar und Juli jeden Jahres um 8", Language::German) else { return };
    assert!(matches!(found.time.timing, Timing::Cron { .. }));
}

#[test]
fn questions_are_in_the_language_of_the_text() {
    let ask = |text: &str| match read(text, Language::English) {
        Reading::Question(question) => question.text,
        Reading::Timing(found) => panic!("{text}: {found:?}"),
    };
    assert_eq!(ask("jeden Werktag"), "Um wie viel Uhr?");
    assert_eq!(ask("every weekday"), "At what time?");
    assert!(ask("jeden Werktag um acht außer Freitag").contains("„außer“"));
    assert!(ask("every weekday at eight save Friday").contains("“save”"));
}

#[test]
fn the_description_is_in_the_chosen_language() {
    let Reading::Timing(found) = read("every weekday at 8", Language::German) else { panic!() };
    assert_eq!(found.description, "jeden Werktag (Montag bis Freitag) um 08:00 in Europe/Berlin");
    let Reading::Timing(found) = read("jeden Werktag um 8", Language::English) else { panic!() };
    assert_eq!(found.description, "every weekday (Monday to Friday) at 08:00 in Europe/Berlin");
}

/// Whatever is added that isn't understood, or is understood but unused, must not be passed over.
#[test]
fn no_word_is_passed_over() {
    let sentences = [
        "every weekday at 8",
        "daily at 7:30 pm",
        "jeden Werktag um 8",
        "every other Monday at 10",
        "alle zwei Stunden",
        "tomorrow at noon",
    ];
    let words = [
        "unless", "not", "never", "außer", "nicht", "only", "nur", "maybe", "11", "13:00", "Sunday", "Sonntag",
        "second", "last", "or", "oder", "and", "between", "3rd", "half", "pm", "2030", "night",
    ];
    let mut wrong = Vec::new();
    for sentence in sentences {
        let plain = read(sentence, Language::English);
        assert!(matches!(plain, Reading::Timing(_)), "{sentence}");
        let parts: Vec<&str> = sentence.split(' ').collect();
        for word in words {
            for at in 0..=parts.len() {
                let mut longer = parts.clone();
                longer.insert(at, word);
                let text = longer.join(" ");
                if read(&text, Language::English) == plain {
                    wrong.push(format!("{text} is read as if without “{word}”"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn anything_is_read_or_asked_without_a_panic() {
    let words = [
        "every",
        "8",
        "at",
        "pm",
        "on",
        "the",
        "second",
        "last",
        "Monday",
        "month",
        "of",
        "and",
        "between",
        "9",
        "17",
        "in",
        "may",
        "quarter",
        "half past",
        "24.12.",
        "noon",
        "midnight",
        "99",
        "9999",
        "jeden",
        "um",
        "alle",
        "morgen",
        "abends",
        "halb",
        "-",
        ",",
        "9-17",
        "Mo-Fr",
        "0",
        "tomorrow",
        "weekdays",
        "2 weeks",
        "year",
        "29",
        "February",
        "to",
        "first",
        "31st",
    ];
    let mut state = 7_u64;
    let mut read_count = 0;
    for _ in 0..20_000 {
        let mut text = Vec::new();
        for _ in 0..=(state >> 40) % 7 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push(words[usize::try_from(state >> 33).unwrap() % words.len()]);
        }
        state = state.wrapping_add(0x9e37_79b9);
        if let Reading::Timing(found) = read(&text.join(" "), Language::English) {
            read_count += 1;
            // Each number that was said is part of it.
            for number in text.iter().filter_map(|word| word.parse::<u32>().ok()) {
                // `halb 17` is 16:30.
                let forms = [number.to_string(), (number + 12).to_string(), format!("{}:30", number.saturating_sub(1))];
                let said = forms.iter().any(|form| found.description.contains(form.as_str()));
                assert!(said || number == 0, "{text:?} is read without {number}: {}", found.description);
            }
            let plan = found.time.plan("", &Zones::bundled()).unwrap();
            assert!(plan.find_next(at(NOW)).is_some(), "{text:?} is never due");
        }
    }
    assert!(read_count > 5, "{read_count} were read");
    for text in
        ["🦀", "8", "\u{0}", "every\nweekday\nat\n8", &"every ".repeat(60), "ﬁrst", "１２", "every day at 8\u{200b}"]
    {
        let context =
            ReadContext { now: Timestamp(Instant::MAX.as_millisecond()), zone: "UTC", language: Language::German };
        let _ = read_words(text, &context, &Zones::bundled());
    }
}
