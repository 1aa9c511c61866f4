//! Arguments read from a request, and deep plans: no panic, whatever is asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use steward_parse::fill::{Form, Request, calls};
use steward_parse::{ToolIndex, deep};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let schema = json!({"type": "object", "required": ["city", "days"], "properties": {
        "city": {"type": "string", "description": "Name of the city"},
        "days": {"type": "integer", "description": "Number of days"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "hourly": {"type": "boolean", "description": "Whether hour by hour"},
        "sizes": {"type": "array", "items": {"type": "number"}},
        "date": {"type": "string", "description": "Date as YYYY-MM-DD"},
    }});
    let form = Form::of("weather_forecast", "Forecast of the weather in a city", &schema);
    let found = calls(&Request::read(&text), &form, &|_, _| 0.0);
    assert!(!found.is_empty());
    let _ = deep::steps(&text, &ToolIndex::default());
});
