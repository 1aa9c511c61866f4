//! Calendars (iCalendar), such as invitations: each event or task as lines that say what, when, where and who.

use super::draft::{Draft, one_line};
use super::error::Result;
use super::text;

const BEGIN: &str = "BEGIN:VCALENDAR";

pub(super) fn is_calendar(text: &str) -> bool {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    begin.get(..BEGIN.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(BEGIN))
}

/// Adds a page with a paragraph for each entry.
pub(super) fn read(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    let calendar = Calendar::of(text);
    if calendar.entries.is_empty() {
        draft.warn("The calendar has no events or tasks; it was read as plain text.");
        return text::plain(text, draft);
    }
    draft.page(None)?;
    draft.title = calendar.name;
    calendar.entries.iter().try_for_each(|entry| draft.paragraph(entry))
}

/// The entries of a calendar, each in several lines.
pub(super) fn entries(text: &str) -> Vec<String> {
    Calendar::of(text).entries
}

#[derive(Default)]
struct Calendar {
    name: Option<String>,
    method: String,
    entries: Vec<String>,
}

/// `NAME;PARAMETER=…:value`.
struct Property {
    name: String,
    parameters: Vec<(String, String)>,
    value: String,
}

impl Calendar {
    fn of(text: &str) -> Self {
        let mut calendar = Self::default();
        // The properties of the entry that is open, and how many parts of it, such as alarms, are open.
        let mut open: Option<(String, Vec<Property>)> = None;
        let mut within = 0_usize;
        for property in unfold(text).iter().filter_map(|line| Property::of(line)) {
            let kind = property.value.trim().to_ascii_uppercase();
            match (property.name.as_str(), &mut open) {
                ("BEGIN", Some(_)) => within += 1,
                ("BEGIN", None) if matches!(kind.as_str(), "VEVENT" | "VTODO" | "VJOURNAL") => {
                    open = Some((kind, Vec::new()));
                }
                ("END", Some(_)) if within > 0 => within -= 1,
                ("END", Some(_)) => calendar.end_entry(&mut open),
                (_, Some((_, properties))) if within == 0 => properties.push(property),
                ("METHOD", None) => calendar.method = kind,
                ("X-WR-CALNAME", None) => calendar.name = Some(property.text()),
                _ => {}
            }
        }
        // One that was cut off says what it says.
        calendar.end_entry(&mut open);
        calendar
    }

    fn end_entry(&mut self, open: &mut Option<(String, Vec<Property>)>) {
        if let Some((kind, properties)) = open.take() {
            self.entries.push(write_entry(self.kind_of(&kind), &properties));
        }
    }

    fn kind_of(&self, kind: &str) -> &'static str {
        match (self.method.as_str(), kind) {
            ("REQUEST", _) => "Invitation",
            ("CANCEL", _) => "Cancellation",
            ("REPLY", _) => "Reply to an invitation",
            ("COUNTER", _) => "Proposal of another time",
            (_, "VTODO") => "Task",
            (_, "VJOURNAL") => "Journal entry",
            _ => "Event",
        }
    }
}

/// Lines that go on begin with a space or a tab.
fn unfold(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

impl Property {
    fn of(line: &str) -> Option<Self> {
        let mut in_quotes = false;
        let mut outside = |letter: char| {
            in_quotes ^= letter == '"';
            !in_quotes
        };
        let ends: Vec<(usize, char)> = line.char_indices().filter(|(_, letter)| outside(*letter)).collect();
        let colon = ends.iter().find(|(_, letter)| *letter == ':')?.0;
        let mut cuts: Vec<usize> =
            ends.iter().filter(|(at, letter)| *letter == ';' && *at < colon).map(|(at, _)| *at).collect();
        cuts.push(colon);
        let name = line[..cuts[0]].trim().to_ascii_uppercase();
        let parameters = cuts.windows(2).filter_map(|pair| line[pair[0] + 1..pair[1]].split_once('='));
        let parameters = parameters.map(|(name, value)| (name.to_ascii_uppercase(), value.replace('"', ""))).collect();
        (!name.is_empty()).then(|| Self { name, parameters, value: line[colon + 1..].to_owned() })
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        let (mut text, mut letters) = (String::new(), self.value.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some('n' | 'N') => text.push('\n'),
                    Some(other) => text.push(other),
                    None => {}
                },
                letter => text.push(letter),
            }
        }
        text.trim().to_owned()
    }

    /// `Ama Boateng <ama@example.org> (accepted)`.
    fn person(&self) -> String {
        let address = self.value.trim();
        let address = match address.get(..7) {
            Some(scheme) if scheme.eq_ignore_ascii_case("mailto:") => &address[7..],
            _ => address,
        };
        let mut text = match self.parameter("CN").filter(|name| !name.is_empty() && *name != address) {
            Some(name) if address.is_empty() => name.to_owned(),
            Some(name) => format!("{name} <{address}>"),
            None => address.to_owned(),
        };
        let answer = self.parameter("PARTSTAT").filter(|answer| !answer.eq_ignore_ascii_case("NEEDS-ACTION"));
        let optional = self.parameter("ROLE").filter(|role| role.eq_ignore_ascii_case("OPT-PARTICIPANT"));
        let notes: Vec<String> = optional.map(|_| "optional".to_owned()).into_iter().chain(answer.map(lower)).collect();
        if !notes.is_empty() {
            text = format!("{text} ({})", notes.join(", "));
        }
        text
    }

    /// The times of a list, as `2024-03-05 14:00 (Europe/Berlin)`.
    fn times(&self) -> String {
        let times: Vec<String> = self.value.split(',').map(|time| write_time(time.trim())).collect();
        let zone = self.parameter("TZID").map(|zone| format!(" ({zone})")).unwrap_or_default();
        format!("{}{zone}", times.join(", "))
    }
}

fn lower(value: &str) -> String {
    value.trim().to_lowercase().replace('-', " ")
}

fn write_entry(kind: &str, properties: &[Property]) -> String {
    let all = |name: &'static str| properties.iter().filter(move |property| property.name == name);
    let first = |name: &'static str| all(name).next();
    let text = |name: &'static str| first(name).map(Property::text).unwrap_or_default();
    let people = |name: &'static str| all(name).map(Property::person).collect::<Vec<_>>().join(", ");
    let times = |name: &'static str| all(name).map(Property::times).collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("{kind}: {}", one_line(&text("SUMMARY")))];
    let duration = text("DURATION");
    for (label, value) in [
        ("When", write_span(first("DTSTART"), first("DTEND"))),
        ("Duration", write_duration(&duration).unwrap_or(duration)),
        ("Due", times("DUE")),
        ("Repeats", first("RRULE").map(|rule| write_rule(&rule.value)).unwrap_or_default()),
        ("Also on", times("RDATE")),
        ("Not on", times("EXDATE")),
        ("Instead of", times("RECURRENCE-ID")),
        ("Where", text("LOCATION")),
        ("Organizer", people("ORGANIZER")),
        ("Who", people("ATTENDEE")),
        ("Status", lower(&text("STATUS"))),
        ("Categories", text("CATEGORIES")),
        ("Link", text("URL")),
    ] {
        if !value.is_empty() {
            lines.push(format!("{label}: {}", one_line(&value)));
        }
    }
    for property in all("ATTACH").filter(|property| property.parameter("ENCODING").is_none()) {
        lines.push(format!("Attached: {}", property.value.trim()));
    }
    for property in all("DESCRIPTION").chain(all("COMMENT")) {
        lines.extend(property.text().lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    lines.join("\n")
}

/// From when until when; the end of whole days is the day after.
fn write_span(start: Option<&Property>, end: Option<&Property>) -> String {
    let Some(start) = start else { return end.map(|end| format!("until {}", end.times())).unwrap_or_default() };
    let (from, Some(end)) = (start.times(), end) else { return start.times() };
    if !start.value.contains('T') {
        return format!("{from}, until before {}", end.times());
    }
    let until = write_time(end.value.trim());
    let day = write_time(start.value.trim()).chars().take(10).collect::<String>();
    let is_same_zone = start.parameter("TZID") == end.parameter("TZID");
    match until.strip_prefix(day.as_str()).filter(|_| is_same_zone) {
        Some(time) => format!("{from} to {}", time.trim()),
        None => format!("{from} to {}", end.times()),
    }
}

/// `20240305T140000Z` is `2024-03-05 14:00 UTC`.
fn write_time(time: &str) -> String {
    let digits =
        |from: usize, to: usize| time.get(from..to).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    let (Some(year), Some(month), Some(day)) = (digits(0, 4), digits(4, 6), digits(6, 8)) else {
        return time.to_owned();
    };
    let date = format!("{year}-{month}-{day}");
    let (Some('T'), Some(hour), Some(minute)) = (time.chars().nth(8), digits(9, 11), digits(11, 13)) else {
        return date;
    };
    let second = digits(13, 15).filter(|second| *second != "00").map(|second| format!(":{second}")).unwrap_or_default();
    let zone = if time.ends_with('Z') { " UTC" } else { "" };
    format!("{date} {hour}:{minute}{second}{zone}")
}

/// `P1DT2H30M` is `1 d 2 h 30 min`.
fn write_duration(duration: &str) -> Option<String> {
    let (mut parts, mut number, mut in_time) = (Vec::new(), String::new(), false);
    for letter in duration.strip_prefix('P')?.chars() {
        let unit = match letter {
            'T' => {
                in_time = true;
                continue;
            }
            digit if digit.is_ascii_digit() => {
                number.push(digit);
                continue;
            }
            'W' => "weeks",
            'D' => "d",
            'H' => "h",
            'M' if in_time => "min",
            'S' => "s",
            _ => return None,
        };
        if number.chars().any(|digit| digit != '0') {
            parts.push(format!("{number} {unit}"));
        }
        number.clear();
    }
    Some(parts.join(" "))
}

/// `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;COUNT=4` is `every 2 weeks, on MO, 4 times`.
fn write_rule(rule: &str) -> String {
    let parts: Vec<(&str, &str)> = rule.trim().split(';').filter_map(|part| part.split_once('=')).collect();
    let of = |name: &str| parts.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
    let frequency = of("FREQ").unwrap_or_default().to_ascii_uppercase();
    let mut words = vec![match (of("INTERVAL").filter(|interval| *interval != "1"), frequency.as_str()) {
        (None, "DAILY") => "daily".to_owned(),
        (Some(interval), "DAILY") => format!("every {interval} days"),
        (None, frequency) => lower(frequency),
        (Some(interval), frequency) => format!("every {interval} {}s", lower(frequency).trim_end_matches("ly")),
    }];
    for (name, value) in &parts {
        match name.to_ascii_uppercase().as_str() {
            "FREQ" | "INTERVAL" | "WKST" => {}
            "BYDAY" => words.push(format!("on {}", value.replace(',', ", "))),
            "BYMONTHDAY" => words.push(format!("on day {}", value.replace(',', ", "))),
            "BYMONTH" => words.push(format!("in month {}", value.replace(',', ", "))),
            "COUNT" => words.push(format!("{value} times")),
            "UNTIL" => words.push(format!("until {}", write_time(value))),
            name => words.push(format!("{} {value}", lower(name))),
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{entries, is_calendar, write_duration, write_rule, write_time};

    #[test]
    fn invitations_are_lines() {
        let text = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\n\
            SUMMARY;LANGUAGE=en:Budget round\\, part 2\r\nDTSTART;TZID=Europe/Berlin:20240305T140000\r\n\
            DTEND;TZID=Europe/Berlin:20240305T150000\r\nRRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=4\r\nLOCATION:Room Heron 12\r\n\
            ORGANIZER;CN=\"Owusu; Kofi\":MAILTO:kofi@example.org\r\nATTENDEE;CN=Ama Boateng;PARTSTAT=ACCEPTED:mailto:ama@\r\n example.org\r\n\
            ATTENDEE:mailto:yaw@example.org\r\nDESCRIPTION:Bring the figures of Fe\r\n bruary\\n\\nand coffee\r\n\
            BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nSTATUS:CONFIRMED\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert!(is_calendar(text));
        let expected = "Invitation: Budget round, part 2\nWhen: 2024-03-05 14:00 (Europe/Berlin) to 15:00\nRepeats: weekly, on TU, 4 times\n\
            Where: Room Heron 12\nOrganizer: Owusu; Kofi <kofi@example.org>\n\
            Who: Ama Boateng <ama@example.org> (accepted), yaw@example.org\nStatus: confirmed\nBring the figures of February\nand coffee";
        assert_eq!(entries(text), [expected]);
        // Several, of other kinds, and one that is cut off.
        let text = "begin:vcalendar\nBEGIN:VEVENT\nSUMMARY:Fair\nDTSTART;VALUE=DATE:20240305\nDTEND;VALUE=DATE:20240307\nEND:VEVENT\n\
            BEGIN:VTODO\nSUMMARY:Pay\nDUE:20240401T120030Z\nEND:VTODO\nBEGIN:VEVENT\nSUMMARY:Cut";
        assert_eq!(
            entries(text),
            [
                "Event: Fair\nWhen: 2024-03-05, until before 2024-03-07",
                "Task: Pay\nDue: 2024-04-01 12:00:30 UTC",
                "Event: Cut"
            ]
        );
        assert!(entries("BEGIN:VCALENDAR\nEND:VCALENDAR\n").is_empty());
        assert!(!is_calendar("BEGIN:VCARD\n"));
    }

    #[test]
    fn times_are_written_for_people() {
        assert_eq!(write_time("20240305T140000Z"), "2024-03-05 14:00 UTC");
        assert_eq!(write_time("tomorrow"), "tomorrow");
        assert_eq!(write_time("2024é305"), "2024é305");
        assert_eq!(write_duration("P1DT2H30M").as_deref(), Some("1 d 2 h 30 min"));
        assert_eq!(write_duration("PT0S").as_deref(), Some(""));
        assert_eq!(write_duration("soon"), None);
        assert_eq!(write_rule("FREQ=MONTHLY;INTERVAL=2;UNTIL=20241231"), "every 2 months, until 2024-12-31");
        assert_eq!(write_rule("FREQ=DAILY"), "daily");
    }
}
