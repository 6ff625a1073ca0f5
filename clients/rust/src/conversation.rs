//! A conversation over its turns: the history, the state of the service, and deltas in place of whole bodies.

use std::fmt;
use std::sync::Arc;

use prost::Message;
use serde_json::Value;

use crate::body::{Body, Json};
use crate::call::random;
use crate::client::Client;
use crate::error::Error;
use crate::history::{Continued, Digest, History, Parts, digest};
use crate::outline::{Outline, format_of};
use crate::splices;
use crate::v1::native_request::Body as NativeBody;
use crate::v1::{self, Format, Outcome, PrepareRequest, PrepareResponse, Usage};

/// A helper for an agent's loop. Before a request to the provider, [`before_request`](Conversation::before_request) gives the body to
/// send; after it, [`after_response`](Conversation::after_response) takes the provider's usage.
///
/// The loop appends to its own list of messages and passes the whole of it every turn. It may go on from the list it got back instead;
/// both are recognized, and both keep the history compressed and its beginning the same bytes until the next compression. A list that
/// begins with neither starts the conversation anew.
///
/// A turn sends the service only what is new, where the server holds the body of the turn before.
pub struct Conversation {
    client: Client,
    options: PrepareRequest,
    format: Option<Format>,
    fail_open: bool,
    history: Option<History>,
    /// The last result, as the server holds it.
    base: Option<(Arc<str>, Digest)>,
    usage: Option<Usage>,
    /// How many messages the caller sends to its provider now.
    in_flight: usize,
    response: Option<PrepareResponse>,
    error: Option<Error>,
    bytes_sent: u64,
    bytes_received: u64,
}

impl fmt::Debug for Conversation {
    /// Without what is said in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("session_id", &self.options.session_id)
            .field("outcome", &self.last_outcome())
            .field("error", &self.error)
            .field("bytes_sent", &self.bytes_sent)
            .field("bytes_received", &self.bytes_received)
            .finish_non_exhaustive()
    }
}

impl Conversation {
    /// A conversation with options for every turn, for example `strategy`, `ttl`, `policy` or `context_window`. Without a `session_id`
    /// it gets one at random. What the helper fills in itself is overwritten: conversation, view, states and last usage.
    #[must_use]
    pub fn new(client: Client, options: PrepareRequest) -> Self {
        let session_id = if options.session_id.is_empty() {
            format!("{:016x}{:016x}", random(), random())
        } else {
            options.session_id
        };
        Self {
            client,
            options: PrepareRequest { session_id, conversation: None, ..options },
            format: None,
            fail_open: false,
            history: None,
            base: None,
            usage: None,
            in_flight: 0,
            response: None,
            error: None,
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    /// Names the format of the bodies. Default: it is told from each body.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// When the service does not answer with a result, whatever the reason, go on without it: the last compressed history with the new
    /// messages, or the body as it is. [`last_error`](Conversation::last_error) says what happened. Default: the error is returned.
    #[must_use]
    pub fn fail_open(mut self, yes: bool) -> Self {
        self.fail_open = yes;
        self
    }

    /// The body to send to the provider, of the same kind as the one given.
    ///
    /// # Errors
    ///
    /// See [`Error`]. With [`fail_open`](Conversation::fail_open) only [`Error::Body`], for a body that cannot be written as JSON.
    pub async fn before_request<B: Body + ?Sized>(&mut self, body: &B) -> Result<B::Output, Error> {
        let json = body.json()?;
        let turn = match Turn::new(&json, self.history.as_ref()) {
            Ok(turn) => turn,
            Err(error) if self.fail_open => return self.go_on::<B>(&json, None, error),
            Err(error) => return Err(self.remember(error)),
        };
        if turn.continued.is_none() {
            self.forget();
        }
        match self.ask(body, &json, &turn).await {
            Ok(output) => Ok(output),
            Err(error) if self.fail_open => self.go_on::<B>(&json, Some(turn), error),
            Err(error) => Err(self.remember(error)),
        }
    }

    /// Takes the usage that the provider reported for the body that [`before_request`](Conversation::before_request) gave: its JSON
    /// (OpenAI's or Anthropic's), or a [`Usage`] of your own making. It decides the threshold of the next turn.
    pub fn after_response(&mut self, usage: impl Into<Usage>) {
        let usage = Usage { message_count: i32::try_from(self.in_flight).unwrap_or(i32::MAX), ..usage.into() };
        self.usage = (usage.prompt_tokens > 0 && usage.message_count > 0).then_some(usage);
    }

    /// The id that names the conversation to the service.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.options.session_id
    }

    /// The response of the last turn that had one: report, breakpoints, predicted usage.
    #[must_use]
    pub fn last_response(&self) -> Option<&PrepareResponse> {
        self.response.as_ref()
    }

    /// What the last compression did, or why there was none.
    #[must_use]
    pub fn last_report(&self) -> Option<&v1::CompressionReport> {
        self.response.as_ref().and_then(|r| r.report.as_ref())
    }

    /// What became of the last body. Unspecified before the first response.
    #[must_use]
    pub fn last_outcome(&self) -> Outcome {
        self.response.as_ref().map_or(Outcome::Unspecified, PrepareResponse::outcome)
    }

    /// Why the last turn had no result. None: it had.
    #[must_use]
    pub fn last_error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Bytes of all requests to the service, in the protobuf encoding.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// Bytes of all responses of the service, in the protobuf encoding.
    #[must_use]
    pub fn bytes_received(&self) -> u64 {
        self.bytes_received
    }

    async fn ask<B: Body + ?Sized>(&mut self, body: &B, json: &Json<'_>, turn: &Turn) -> Result<B::Output, Error> {
        let text = turn.text(json)?;
        let format = match self.format.or(body.format()) {
            Some(format) => format,
            None => format_of(text)?,
        };
        // What told it may be summarized away.
        self.format = Some(format);
        let response = self.send(text, format).await?;
        let result = String::from_utf8(splices::apply(text.as_bytes(), &response.splices)?)
            .map_err(|e| Error::Internal { message: format!("the service cut a character: {e}"), error_id: None })?;
        let result: Arc<str> = result.into();
        let output = B::restore(json.replaced(result.as_bytes().to_vec())?)?;
        // A value may be spelled differently when the caller comes back with it.
        let again = output.json()?;
        let again = again.text()?;
        let outlines = Outline::of(&result).zip(Outline::of(again));
        self.history = turn.outline.as_ref().zip(outlines).map(|(_, (of_result, of_again))| {
            self.in_flight = of_again.messages.len();
            History::new(turn.parts.clone(), Parts::of(again, &of_again), Arc::clone(&result), of_result)
        });
        self.base = Some((Arc::clone(&result), digest(&result)));
        self.error = None;
        self.carry(response);
        Ok(output)
    }

    /// Sends a turn, as a delta where the server may hold what it is a delta to.
    async fn send(&mut self, text: &str, format: Format) -> Result<PrepareResponse, Error> {
        let native = |body| v1::NativeRequest { format: format.into(), keep: true, body: Some(body) };
        if let Some(delta) = self.delta(text) {
            match self.prepare(native(NativeBody::Delta(delta))).await {
                Err(Error::Refused { reason: Some(reason), .. }) if reason == "BASE_UNKNOWN" => self.base = None,
                answer => return answer,
            }
        }
        self.prepare(native(NativeBody::Json(text.to_owned()))).await
    }

    /// The turn as a delta. None: there is nothing to refer to, or the delta would not be smaller.
    fn delta(&self, text: &str) -> Option<v1::NativeDelta> {
        let (base, digest) = self.base.as_ref()?;
        let delta =
            v1::NativeDelta { base: digest.to_vec(), splices: splices::difference(base, text).into_iter().collect() };
        (delta.encoded_len() < text.len()).then_some(delta)
    }

    async fn prepare(&mut self, native: v1::NativeRequest) -> Result<PrepareResponse, Error> {
        let request = PrepareRequest {
            conversation: Some(v1::Conversation { native: Some(native), ..Default::default() }),
            view: v1::View::Splices.into(),
            last_usage: self.usage,
            ..self.options.clone()
        };
        self.bytes_sent += request.encoded_len() as u64;
        let response = self.client.unary(request, |mut stub, r| async move { stub.prepare(r).await }).await?;
        self.bytes_received += response.encoded_len() as u64;
        Ok(response)
    }

    /// Keeps the states of a response for the next turn.
    fn carry(&mut self, response: PrepareResponse) {
        let compressed = matches!(response.outcome(), Outcome::Compressed | Outcome::TargetUnreachable);
        if compressed {
            self.usage = None; // it was of the longer list
        }
        if compressed || !response.compression_state.is_empty() {
            self.options.compression_state.clone_from(&response.compression_state);
        }
        if !response.cache_state.is_empty() {
            self.options.cache_state.clone_from(&response.cache_state);
        }
        self.response = Some(response);
    }

    /// Goes on without the service.
    fn go_on<B: Body + ?Sized>(
        &mut self,
        json: &Json<'_>,
        turn: Option<Turn>,
        error: Error,
    ) -> Result<B::Output, Error> {
        self.error = Some(error);
        let unchanged = |json: &Json<'_>| B::restore(json.replaced(json.as_bytes().to_vec())?);
        let Some(Turn { outline: Some(outline), parts, continued: Some(continued) }) = turn else {
            self.forget();
            return unchanged(json);
        };
        let Some(of_continued) = Outline::of(&continued.text) else {
            return unchanged(json);
        };
        let (output, returned, count) = if continued.own_part_is_marked() {
            (unchanged(json)?, parts.clone(), outline.messages.len())
        } else {
            let output = B::restore(json.replaced(continued.text.clone().into_bytes())?)?;
            let again = output.json()?;
            let again = again.text()?;
            let Some(of_again) = Outline::of(again) else { return unchanged(json) };
            let returned = Parts::of(again, &of_again);
            (output, returned, of_again.messages.len())
        };
        let history = History::new(parts, returned, continued.text.into(), of_continued);
        // A report on another list than the next request's would not fit it.
        self.in_flight = if history.is_what_was_returned() { count } else { 0 };
        self.history = Some(history);
        Ok(output)
    }

    /// Drops everything that belongs to a history that is no longer the caller's.
    fn forget(&mut self) {
        self.history = None;
        self.usage = None;
        self.in_flight = 0;
        self.options.compression_state.clear();
        self.options.cache_state.clear();
    }

    fn remember(&mut self, error: Error) -> Error {
        self.error = Some(error.clone());
        error
    }
}

/// A body as it is sent to the service.
struct Turn {
    /// None: the body is not what it should be; the service says why.
    outline: Option<Outline>,
    parts: Parts,
    continued: Option<Continued>,
}

impl Turn {
    fn new(json: &Json<'_>, history: Option<&History>) -> Result<Self, Error> {
        let text = json.text()?;
        let Some(outline) = Outline::of(text) else {
            return Ok(Self { outline: None, parts: Parts::default(), continued: None });
        };
        let parts = Parts::of(text, &outline);
        let continued = history.and_then(|h| h.continued(text, &outline, &parts));
        Ok(Self { outline: Some(outline), parts, continued })
    }

    fn text<'a>(&'a self, json: &'a Json<'_>) -> Result<&'a str, Error> {
        self.continued.as_ref().map_or_else(|| json.text(), |c| Ok(c.text.as_str()))
    }
}

/// Reads a provider's usage: `prompt_tokens` and `completion_tokens` (OpenAI), or `input_tokens`, `cache_read_input_tokens`,
/// `cache_creation_input_tokens` and `output_tokens` (Anthropic). What is missing counts 0.
impl From<&Value> for Usage {
    fn from(usage: &Value) -> Self {
        let sum = |keys: &[&str]| {
            let total = keys.iter().filter_map(|key| usage.get(key)?.as_u64()).fold(0_u64, u64::saturating_add);
            i32::try_from(total).unwrap_or(i32::MAX)
        };
        let prompt = ["prompt_tokens", "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
        // OpenAI's prompt_tokens include what was cached.
        let prompt = if usage.get("prompt_tokens").is_some() { &prompt[..1] } else { &prompt[1..] };
        Self {
            prompt_tokens: sum(prompt),
            completion_tokens: sum(&["completion_tokens", "output_tokens"]),
            message_count: 0,
        }
    }
}

impl From<Value> for Usage {
    fn from(usage: Value) -> Self {
        Self::from(&usage)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_usage_of_both_providers_is_read() {
        let openai =
            json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}});
        assert_eq!(Usage::from(&openai), Usage { prompt_tokens: 10, completion_tokens: 2, message_count: 0 });
        let anthropic = json!({"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4});
        assert_eq!(Usage::from(&anthropic), Usage { prompt_tokens: 321, completion_tokens: 4, message_count: 0 });
        assert_eq!(Usage::from(&json!(null)), Usage::default());
    }

    #[tokio::test]
    async fn sessions_are_named_apart() {
        let client = Client::connect("http://127.0.0.1:1").unwrap();
        let new = || Conversation::new(client.clone(), PrepareRequest::default()).session_id().to_owned();
        assert_eq!(new().len(), 32);
        assert_ne!(new(), new());
        let named = PrepareRequest { session_id: "mine".into(), ..Default::default() };
        assert_eq!(Conversation::new(client, named).session_id(), "mine");
    }
}
