//! The client against the real server and against a double of it.

#[path = "../support/double.rs"]
mod double;
#[path = "../support/mod.rs"]
mod support;

mod conversation;
mod failures;
mod recorded;
mod replay;
mod security;
