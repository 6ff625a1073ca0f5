//! The trace context of a call, from OpenTelemetry.

use opentelemetry::propagation::Injector;
use opentelemetry::{Context, global};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};

struct Headers<'a>(&'a mut MetadataMap);

impl Injector for Headers<'_> {
    fn set(&mut self, key: &str, value: String) {
        if let (Ok(key), Ok(value)) = (key.parse::<AsciiMetadataKey>(), value.parse::<AsciiMetadataValue>()) {
            self.0.insert(key, value);
        }
    }
}

/// Writes what the program's propagator makes of the current context: with W3C's, `traceparent` and `tracestate`.
pub(crate) fn inject(metadata: &mut MetadataMap) {
    global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&Context::current(), &mut Headers(metadata))
    });
}
