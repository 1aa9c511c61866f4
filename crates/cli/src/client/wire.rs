use anyhow::{Context, anyhow};
use serde_json::{Map, Value};
use steward_core::event::Event;
use steward_core::{RunId, Timestamp};
use uuid::Uuid;

pub(super) fn event(text: &str) -> anyhow::Result<Event> {
    let value = serde_json::from_str(text).context("an event of the server is no JSON")?;
    Ok(split(value)?.0)
}

/// An event, and its body as received.
pub(super) fn split(value: Value) -> anyhow::Result<(Event, Value)> {
    let Value::Object(mut map) = value else {
        return Err(anyhow!("an event of the server is no object"));
    };
    let event = |map: &mut Map<String, Value>| -> Option<(RunId, u64, i64, u64)> {
        let run: Uuid = serde_json::from_value(map.shift_remove("run_id")?).ok()?;
        let seq = map.shift_remove("seq")?.as_u64()?;
        let at = map.shift_remove("at")?.as_i64()?;
        let epoch = map.shift_remove("epoch")?.as_u64()?;
        Some((RunId(run), seq, at, epoch))
    };
    let (run_id, seq, at, epoch) = event(&mut map).context("an event of the server does not say where it stands")?;
    let raw = Value::Object(map);
    let body = serde_json::from_value(raw.clone())
        .with_context(|| format!("event {seq} of run {run_id} is not understood"))?;
    let event = Event { run_id, seq, at: Timestamp(at), epoch, body };
    Ok((event, raw))
}

#[cfg(test)]
mod tests {
    use super::{event, split};
    use serde_json::json;
    use steward_core::event::{Event, EventBody};
    use steward_core::{RunId, TimerId, Timestamp};
    use uuid::Uuid;

    fn sent(body: &serde_json::Value) -> serde_json::Value {
        let mut event = json!({"run_id": Uuid::from_u128(1), "seq": 3, "at": 9, "epoch": 2});
        event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        event
    }

    #[test]
    fn events_come_back_as_they_were() {
        let body = json!({"type": "run.resumed", "node": "local"});
        let (event, raw) = split(sent(&body)).unwrap();
        assert_eq!((event.seq, event.at, event.epoch), (3, Timestamp(9), 2));
        assert_eq!(raw, body);
        assert_eq!(event.body, EventBody::RunResumed { node: "local".to_owned() });
    }

    #[test]
    fn alarms_and_what_is_new_are_read() {
        let alarm = Event {
            run_id: RunId(Uuid::from_u128(1)),
            seq: 3,
            at: Timestamp(9),
            epoch: 2,
            body: EventBody::TimerSet {
                timer_id: TimerId(Uuid::from_u128(5)),
                at: Timestamp(77),
                purpose: "retry".to_owned(),
            },
        };
        assert_eq!(event(&json!(alarm).to_string()).unwrap(), alarm);
        let new = json!({"type": "run.praised", "stars": 5});
        let (read, raw) = split(sent(&new)).unwrap();
        assert_eq!(read.body, EventBody::Unknown);
        assert_eq!(raw, new);
        for bad in ["[]", "{", r#"{"type": "run.resumed", "node": "x"}"#] {
            assert!(event(bad).is_err(), "{bad}");
        }
    }
}
