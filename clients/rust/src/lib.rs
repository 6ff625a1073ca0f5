#![doc = include_str!("../README.md")]

mod body;
mod call;
mod client;
mod connect;
mod conversation;
mod error;
mod history;
mod outline;
mod splices;
mod stream;
#[cfg(feature = "opentelemetry")]
mod trace;

/// The messages of the service and its stubs, generated from its proto files. The comments there are the reference of the API.
#[allow(missing_docs, clippy::all)]
pub mod v1 {
    include!("generated/elbowroom.v1.rs");
}

pub use body::{Body, Json, Typed, WithFormat};
pub use client::{Client, MAX_RECEIVED_BYTES, MAX_SENT_BYTES, Reply, conversation};
pub use connect::{ClientBuilder, DEFAULT_TIMEOUT};
pub use conversation::Conversation;
pub use error::Error;
pub use stream::{CompressStream, Event};
