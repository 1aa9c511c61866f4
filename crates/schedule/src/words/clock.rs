//! Times of the day, windows and parts of the day.

use super::grammar::{Parser, Step};
use super::lexicon::{Part, Sense};
use super::question::Ask;
use super::said::{Clock, as_month, as_number, as_part, as_unit};

impl Parser<'_> {
    /// `between 9 and 17`, `9-17 Uhr`, `from 9:00 to 17:00`.
    pub(super) fn read_window(&mut self) -> Step {
        let found = self.attempt(|parser| {
            let between = parser.take(&Sense::Between);
            let _ = !between && parser.take(&Sense::From);
            let Some(from) = parser.read_clock(true)? else { return Ok(None) };
            let joined =
                if between { parser.take(&Sense::And) || parser.take(&Sense::To) } else { parser.take(&Sense::To) };
            if !joined {
                return Ok(None);
            }
            Ok(parser.read_clock(true)?.map(|to| (from, to)))
        })?;
        if found.is_some() && self.said.window.is_some() {
            return Err(Ask::TwoTimings);
        }
        self.said.window = found.or(self.said.window);
        Ok(found.is_some())
    }

    /// `at 8, 12:30 and 6 pm`.
    pub(super) fn read_times(&mut self) -> Step {
        let found = self.attempt(|parser| {
            let at = parser.take(&Sense::At);
            let Some(first) = parser.read_clock(at)? else { return Ok(None) };
            let mut times = vec![first];
            loop {
                let more = parser.attempt(|parser| {
                    if !(parser.take(&Sense::And) || parser.take(&Sense::Comma)) {
                        return Ok(None);
                    }
                    let _ = parser.take(&Sense::And);
                    let _ = parser.take(&Sense::At);
                    parser.read_clock(true)
                })?;
                let Some(next) = more else { break };
                times.push(next);
            }
            Ok(Some(times))
        })?;
        let Some(times) = found else { return Ok(false) };
        if self.sees(&Sense::Or) {
            return Err(Ask::EitherOr);
        }
        if !self.said.times.is_empty() {
            return Err(Ask::TwoTimings);
        }
        self.said.times = times;
        Ok(true)
    }

    /// A time of the day; a bare number only where a time is `expected`.
    fn read_clock(&mut self, expected: bool) -> Result<Option<Clock>, Ask> {
        if self.take(&Sense::Noon) {
            return Ok(Some(Clock { hour: 12, minute: 0, after_noon: Some(true), spoken: false, midnight: false }));
        }
        if self.take(&Sense::Midnight) {
            return Ok(Some(Clock { hour: 0, minute: 0, after_noon: Some(false), spoken: false, midnight: true }));
        }
        for (sense, minute, back) in [
            (Sense::HalfPast, 30, false),
            (Sense::HalfTo, 30, true),
            (Sense::QuarterPast, 15, false),
            (Sense::QuarterTo, 45, true),
        ] {
            if self.take(&sense) {
                let Some(hour) = self.pick(as_number).filter(|hour| (1..=24).contains(hour)) else {
                    return Err(Ask::HourUnclear);
                };
                if back && hour == 1 {
                    return Err(Ask::HourUnclear);
                }
                let hour = if back { hour - 1 } else { hour };
                return self.finish_clock(hour, minute, None, true).map(Some);
            }
        }
        let begin = self.at;
        if let Some((hour, minute, after_noon)) = self.pick(|sense| match sense {
            Sense::Clock(hour, minute, after_noon) => Some((*hour, *minute, *after_noon)),
            _ => None,
        }) {
            let _ = self.take(&Sense::HourWord);
            return self.finish_clock(hour, minute, after_noon, false).map(Some);
        }
        let Some(hour) = self.pick(as_number) else { return Ok(None) };
        let named = self.take(&Sense::HourWord);
        let minute = if named { self.pick(as_number) } else { None };
        // `in 2 hours`, `15 minutes`, `1. und 15.`
        let counts = !named && (self.find(as_unit).is_some() || self.find(as_month).is_some());
        if counts || !(named || expected || self.sees(&Sense::Am) || self.sees(&Sense::Pm)) {
            self.at = begin;
            return Ok(None);
        }
        self.finish_clock(hour, minute.unwrap_or(0), None, !named).map(Some)
    }

    fn finish_clock(&mut self, hour: u32, minute: u32, after_noon: Option<bool>, spoken: bool) -> Result<Clock, Ask> {
        let said = if self.take(&Sense::Am) {
            Some(false)
        } else if self.take(&Sense::Pm) {
            Some(true)
        } else {
            None
        };
        if after_noon.is_some() && said.is_some() && after_noon != said {
            return Err(Ask::HourUnclear);
        }
        let after_noon = after_noon.or(said);
        if hour == 12 && minute == 0 {
            // 12 noon
            let _ = self.take(&Sense::Noon);
        }
        let allowed = if after_noon.is_some() { (1..=12).contains(&hour) } else { hour <= 23 };
        if !allowed || minute > 59 {
            return Err(Ask::HourUnclear);
        }
        let hour = match after_noon {
            Some(true) if hour < 12 => hour + 12,
            Some(false) if hour == 12 => 0,
            _ => hour,
        };
        Ok(Clock { hour, minute, after_noon, spoken, midnight: false })
    }

    /// `in the evening`, `abends`.
    pub(super) fn read_part(&mut self) -> Step {
        let begin = self.at;
        let _ = self.take(&Sense::In) || self.take(&Sense::At) || self.take(&Sense::On);
        let Some(part) = self.pick(as_part) else {
            self.at = begin;
            return Ok(false);
        };
        self.set_part(part).map(|()| true)
    }

    pub(super) fn set_part(&mut self, part: Part) -> Result<(), Ask> {
        if self.said.part.is_some_and(|known| known != part) {
            return Err(Ask::HourUnclear);
        }
        self.said.part = Some(part);
        Ok(())
    }
}
