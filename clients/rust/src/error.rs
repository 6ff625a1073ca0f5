//! What can go wrong with a call, typed, with what to do about it.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// Why a call failed. [`advice`](Error::advice) says in one sentence what to do. An error never comes with half a conversation: the
/// caller's body is as it was.
///
/// Print it with `{error}`: a `main` that returns it prints the form for debugging, which has the fields but not always the words.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be read as it stands (INVALID_ARGUMENT, OUT_OF_RANGE): sending it again will not help.
    #[error("{message}")]
    #[non_exhaustive]
    InvalidRequest {
        /// What is wrong, for people.
        message: String,
        /// The first field concerned as a path, for example `conversation.native.json`.
        field: Option<String>,
        /// A stable word, for example `INVALID_CONVERSATION`.
        reason: Option<String>,
        /// Where the JSON of the body is broken, in bytes from its start.
        byte_offset: Option<u64>,
        /// The message concerned, as a position in the caller's own list.
        index: Option<u32>,
    },
    /// The conversation is understood and cannot be worked on (FAILED_PRECONDITION).
    #[error("{message}")]
    #[non_exhaustive]
    Refused {
        /// Why, for people.
        message: String,
        /// A stable word, for example `TOO_MANY_MARKS`.
        reason: Option<String>,
        /// The message concerned, as a position in the caller's own list.
        index: Option<u32>,
    },
    /// The service has too much to do, or the request is larger than it takes (RESOURCE_EXHAUSTED).
    #[error("{message}")]
    #[non_exhaustive]
    Overloaded {
        /// Why, for people.
        message: String,
        /// When to come back. None: waiting will not help, the request is too large.
        retry_after: Option<Duration>,
    },
    /// The service cannot be reached, is shutting down, or has a summarizer that failed (UNAVAILABLE), and the client's own retries
    /// did not help.
    #[error("{message}")]
    #[non_exhaustive]
    Unavailable {
        /// Why, for people.
        message: String,
        /// A stable word, for example `SUMMARIZER_FAILED`. None when the service was not reached.
        reason: Option<String>,
        /// When to come back, where the service said so.
        retry_after: Option<Duration>,
    },
    /// There was no answer within the timeout.
    #[error("{message}")]
    #[non_exhaustive]
    DeadlineExceeded {
        /// What was waited for, for people.
        message: String,
    },
    /// The service does not know who is calling.
    #[error("{message}")]
    #[non_exhaustive]
    Unauthenticated {
        /// Why, for people.
        message: String,
    },
    /// The caller may not do this.
    #[error("{message}")]
    #[non_exhaustive]
    PermissionDenied {
        /// Why, for people.
        message: String,
    },
    /// A fault of the service, or an answer that makes no sense.
    #[error("{message}")]
    #[non_exhaustive]
    Internal {
        /// What happened, for people.
        message: String,
        /// Under which id the service has logged it.
        error_id: Option<String>,
    },
    /// The format was not given and cannot be told from the body. Nothing was sent.
    #[error(
        "the body could be of either format, and none was given: pass body.with_format(Format::OpenaiChat) or \
         body.with_format(Format::AnthropicMessages)"
    )]
    UnknownFormat,
    /// The body cannot become JSON, or the result cannot become what the body was.
    #[error("{message}")]
    #[non_exhaustive]
    Body {
        /// Why, for people.
        message: String,
    },
    /// The client was set up in a way that cannot work. Nothing was sent.
    #[error("{message}")]
    #[non_exhaustive]
    Configuration {
        /// Why, for people.
        message: String,
    },
    /// Any other status.
    #[error("{message}")]
    #[non_exhaustive]
    Other {
        /// The status code.
        code: Code,
        /// Its message.
        message: String,
    },
}

impl Error {
    /// The gRPC status code. What the client itself finds wrong has the code that the service would have used.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidRequest { .. } | Self::UnknownFormat | Self::Body { .. } | Self::Configuration { .. } => {
                Code::InvalidArgument
            }
            Self::Refused { .. } => Code::FailedPrecondition,
            Self::Overloaded { .. } => Code::ResourceExhausted,
            Self::Unavailable { .. } => Code::Unavailable,
            Self::DeadlineExceeded { .. } => Code::DeadlineExceeded,
            Self::Unauthenticated { .. } => Code::Unauthenticated,
            Self::PermissionDenied { .. } => Code::PermissionDenied,
            Self::Internal { .. } => Code::Internal,
            Self::Other { code, .. } => *code,
        }
    }

    /// What to do, in one sentence.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::InvalidRequest { byte_offset: Some(_), .. } => "Correct the JSON of the body at byte_offset.",
            Self::InvalidRequest { .. } => "Correct the field that is named; the same request will fail again.",
            Self::Refused { index: Some(_), .. } => {
                "Correct the message at index, or send the conversation to the provider as it is."
            }
            Self::Refused { .. } => {
                "See reason; the conversation itself is unchanged and can be sent to the provider as it is."
            }
            Self::Overloaded { retry_after: Some(_), .. } => {
                "Wait for retry_after and call again, with fewer calls at one time."
            }
            Self::Overloaded { .. } => "Send a smaller request, or raise limits.max_message_bytes of the server.",
            Self::Unavailable { reason: Some(_), .. } => {
                "The conversation is as it was: call again after retry_after, or let the failure policy fall back."
            }
            Self::Unavailable { .. } => {
                "Check that the server runs at the address given and that both sides agree on TLS, then call again."
            }
            Self::DeadlineExceeded { .. } => {
                "Give the call a longer timeout, or look at what the server is waiting for."
            }
            Self::Unauthenticated { .. } => "Give the client a token or a certificate that the server accepts.",
            Self::PermissionDenied { .. } => "Ask whoever runs the server to allow this call for your identity.",
            Self::Internal { error_id: Some(_), .. } => {
                "Report it with error_id, under which the server has logged the cause."
            }
            Self::Internal { .. } => "Check that client and server are of the same version, and report it if they are.",
            Self::UnknownFormat => {
                "Name the format: body.with_format(Format::OpenaiChat) or Format::AnthropicMessages."
            }
            Self::Body { .. } => "Pass the body as JSON text, which holds everything that JSON can.",
            Self::Configuration { .. } => "Correct how the client is built.",
            Self::Other { code: Code::Unimplemented, .. } => {
                "Check the address: what answers there is another service or an older version."
            }
            Self::Other { .. } => "See code and message.",
        }
    }

    /// When to call again, where the service said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Overloaded { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The message concerned, as a position in the caller's own list.
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        match self {
            Self::InvalidRequest { index, .. } | Self::Refused { index, .. } => *index,
            _ => None,
        }
    }

    /// The stable word for the cause, where there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::InvalidRequest { reason, .. } | Self::Refused { reason, .. } | Self::Unavailable { reason, .. } => {
                reason.as_deref()
            }
            _ => None,
        }
    }

    pub(crate) fn body(message: impl Into<String>) -> Self {
        Self::Body { message: message.into() }
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::Configuration { message: message.into() }
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let info = status.get_details_error_info();
        let fact = |key: &str| info.as_ref().and_then(|i| i.metadata.get(key).cloned());
        let reason = info.as_ref().map(|i| i.reason.clone()).filter(|r| !r.is_empty());
        let index = fact("message_index").and_then(|n| n.parse().ok());
        let retry_after = status.get_details_retry_info().and_then(|r| r.retry_delay);
        let message = in_full(&status);
        match code_of(&status) {
            // OUT_OF_RANGE is the transport's word for a message over the client's limit.
            Code::InvalidArgument | Code::OutOfRange => Self::InvalidRequest {
                message,
                field: status
                    .get_details_bad_request()
                    .and_then(|b| b.field_violations.into_iter().next())
                    .map(|v| v.field),
                reason,
                byte_offset: fact("byte_offset").and_then(|n| n.parse().ok()),
                index,
            },
            Code::FailedPrecondition => Self::Refused { message, reason, index },
            Code::ResourceExhausted => Self::Overloaded { message, retry_after },
            Code::Unavailable => Self::Unavailable { message, reason, retry_after },
            Code::DeadlineExceeded => Self::DeadlineExceeded { message },
            Code::Unauthenticated => Self::Unauthenticated { message },
            Code::PermissionDenied => Self::PermissionDenied { message },
            Code::Internal => Self::Internal { error_id: error_id(&message), message },
            code => Self::Other { code, message },
        }
    }
}

/// The code that gRPC gives a status. tonic says UNKNOWN, INTERNAL or CANCELLED for a connection that broke and for its own timer.
fn code_of(status: &Status) -> Code {
    let Some(source) = std::error::Error::source(status) else {
        return status.code(); // sent by the server
    };
    if chain(source).any(|e| e.is::<tonic::TimeoutExpired>()) {
        return Code::DeadlineExceeded;
    }
    match status.code() {
        Code::Unknown | Code::Internal | Code::Cancelled => Code::Unavailable,
        code => code,
    }
}

/// A status' message with those of its causes: "transport error" alone helps nobody.
fn in_full(status: &Status) -> String {
    let mut text = status.message().to_owned();
    for cause in std::error::Error::source(status).into_iter().flat_map(chain) {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = if text.is_empty() { more } else { format!("{text}: {more}") };
        }
    }
    text
}

fn chain<'a>(
    first: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(first), |e| e.source())
}

/// The id in "internal error, logged as 0123456789abcdef".
fn error_id(message: &str) -> Option<String> {
    let id = message.rsplit_once("logged as ")?.1;
    (!id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn details_of_a_status_become_fields() {
        let facts =
            HashMap::from([("byte_offset".to_owned(), "17".to_owned()), ("message_index".to_owned(), "3".to_owned())]);
        let mut details = ErrorDetails::with_error_info("INVALID_CONVERSATION", "elbowroom", facts);
        details.add_bad_request_violation("conversation.native.json", "no JSON");
        let error = Error::from(Status::with_error_details(Code::InvalidArgument, "broken", details));
        assert_eq!(
            error,
            Error::InvalidRequest {
                message: "broken".into(),
                field: Some("conversation.native.json".into()),
                reason: Some("INVALID_CONVERSATION".into()),
                byte_offset: Some(17),
                index: Some(3),
            }
        );
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.advice().contains("byte_offset"));
    }

    #[test]
    fn a_retry_delay_is_kept_and_an_error_id_is_found() {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(1500)));
        let error = Error::from(Status::with_error_details(Code::ResourceExhausted, "busy", details));
        assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)));
        let Error::Internal { error_id, .. } =
            Error::from(Status::internal("internal error, logged as 00ff00ff00ff00ff"))
        else {
            panic!("not internal");
        };
        assert_eq!(error_id.as_deref(), Some("00ff00ff00ff00ff"));
    }

    #[test]
    fn every_status_has_a_type_and_advice() {
        for n in 1..=16 {
            let code = Code::from_i32(n);
            let error = Error::from(Status::new(code, "why"));
            assert_eq!(error.code(), if code == Code::OutOfRange { Code::InvalidArgument } else { code });
            assert!(error.advice().ends_with('.'), "{error:?}");
            assert_eq!(error.to_string(), "why");
        }
    }
}
