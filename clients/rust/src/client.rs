//! The client: the methods of the service, for bodies of any kind.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use crate::body::{Body, Json};
use crate::call::{Call, Endpoints, Stub};
use crate::connect::ClientBuilder;
use crate::error::Error;
use crate::outline::format_of;
use crate::splices;
use crate::stream::CompressStream;
use crate::v1;
use crate::v1::native_request::Body as NativeBody;

/// The largest request that is sent, in bytes: 64 MiB.
pub const MAX_SENT_BYTES: usize = 64 << 20;
/// The largest response that is taken, in bytes: 128 MiB.
pub const MAX_RECEIVED_BYTES: usize = 128 << 20;

pub(crate) type Hook = Arc<dyn Fn(&mut MetadataMap) + Send + Sync>;

/// A client of the service. It is cheap to clone, and clones share their connections.
///
/// The last argument of a call is the request message: whatever is set there is sent. Its `conversation` and `view` are filled in by
/// the client: the body travels once, and what comes back are the bytes that changed.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) timeout: Duration,
    pub(crate) metadata: MetadataMap,
}

pub(crate) struct Shared {
    pub endpoints: Endpoints,
    pub hook: Option<Hook>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoints", &self.shared.endpoints)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What a call gave: the body, and the response with everything else. Members of the response can be read from the reply itself:
/// `reply.outcome()`, `reply.report`, `reply.breakpoints`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<B, R> {
    /// The conversation as it is now, of the same kind as it was given.
    pub body: B,
    /// The response. It carries splices in place of the conversation.
    pub response: R,
}

impl<B, R> Deref for Reply<B, R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.response
    }
}

impl Client {
    /// A client of one server, for example `http://127.0.0.1:50051`. Without a scheme it is plain. The connection is opened by the
    /// first call.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for an address that is none, and outside of a Tokio runtime.
    pub fn connect(target: impl Into<String>) -> Result<Self, Error> {
        Self::builder(target).build()
    }

    /// Sets up a client: TLS, token, timeout, more servers.
    pub fn builder(target: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(target.into())
    }

    /// The same client with another timeout for its calls, retries included.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout, ..self.clone() }
    }

    /// The same client with more metadata for its calls.
    #[must_use]
    pub fn with_metadata(&self, metadata: MetadataMap) -> Self {
        let mut client = self.clone();
        client.metadata.as_mut().extend(metadata.into_headers());
        client
    }

    /// Shortens a conversation where it is time for it.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn compress<B: Body + ?Sized>(
        &self,
        body: &B,
        request: v1::CompressRequest,
    ) -> Result<Reply<B::Output, v1::CompressResponse>, Error> {
        let given = Given::new(body, request.conversation.as_ref())?;
        let request =
            v1::CompressRequest { conversation: Some(given.conversation()?), view: view_of(request.view), ..request };
        let response = self.unary(request, |mut stub, r| async move { stub.compress(r).await }).await?;
        Ok(Reply { body: given.restore::<B>(&response.splices)?, response })
    }

    /// Shortens a conversation and tells how it goes: progress, the summary's text as it is written, then the result. The timeout
    /// covers the whole stream. Streams are not retried.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn stream_compress<B: Body + ?Sized>(
        &self,
        body: &B,
        request: v1::CompressRequest,
    ) -> Result<CompressStream<B::Output>, Error> {
        let given = Given::new(body, request.conversation.as_ref())?;
        let request =
            v1::CompressRequest { conversation: Some(given.conversation()?), view: view_of(request.view), ..request };
        CompressStream::open::<B>(&self.call(), v1::StreamCompressRequest { request: Some(request) }, given).await
    }

    /// Puts cache breakpoints where the provider reads best.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn apply_cache_control<B: Body + ?Sized>(
        &self,
        body: &B,
        request: v1::ApplyCacheControlRequest,
    ) -> Result<Reply<B::Output, v1::ApplyCacheControlResponse>, Error> {
        let given = Given::new(body, request.conversation.as_ref())?;
        let request = v1::ApplyCacheControlRequest {
            conversation: Some(given.conversation()?),
            view: view_of(request.view),
            ..request
        };
        let response = self.unary(request, |mut stub, r| async move { stub.apply_cache_control(r).await }).await?;
        Ok(Reply { body: given.restore::<B>(&response.splices)?, response })
    }

    /// Everything a turn needs in one round trip: compress if needed, and mark.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn prepare<B: Body + ?Sized>(
        &self,
        body: &B,
        request: v1::PrepareRequest,
    ) -> Result<Reply<B::Output, v1::PrepareResponse>, Error> {
        let given = Given::new(body, request.conversation.as_ref())?;
        let request =
            v1::PrepareRequest { conversation: Some(given.conversation()?), view: view_of(request.view), ..request };
        let response = self.unary(request, |mut stub, r| async move { stub.prepare(r).await }).await?;
        Ok(Reply { body: given.restore::<B>(&response.splices)?, response })
    }

    /// Counts the tokens of a conversation, with bounds.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn count_tokens<B: Body + ?Sized>(
        &self,
        body: &B,
        request: v1::CountTokensRequest,
    ) -> Result<v1::CountTokensResponse, Error> {
        let given = Given::new(body, request.conversation.as_ref())?;
        let request = v1::CountTokensRequest { conversation: Some(given.conversation()?), ..request };
        self.unary(request, |mut stub, r| async move { stub.count_tokens(r).await }).await
    }

    /// Counts the tokens of a plain text, without any framing.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn count_text(
        &self,
        text: impl Into<String>,
        request: v1::CountTokensRequest,
    ) -> Result<v1::CountTokensResponse, Error> {
        let request = v1::CountTokensRequest { text: Some(text.into()), ..request };
        self.unary(request, |mut stub, r| async move { stub.count_tokens(r).await }).await
    }

    /// Says what a sequence of requests reads from the provider's prompt cache, what it costs, and what was lost and why.
    /// [`conversation`] makes the conversations of its requests.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn simulate_cache(&self, request: v1::SimulateCacheRequest) -> Result<v1::SimulateCacheResponse, Error> {
        self.unary(request, |mut stub, r| async move { stub.simulate_cache(r).await }).await
    }

    /// Lists the models the server knows whose id contains the filter. Empty: all.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list_models(&self, filter: impl Into<String>) -> Result<v1::ListModelsResponse, Error> {
        let request = v1::ListModelsRequest { filter: filter.into() };
        self.unary(request, |mut stub, r| async move { stub.list_models(r).await }).await
    }

    pub(crate) async fn unary<Req, Resp, Fut>(
        &self,
        message: Req,
        call: impl Fn(Stub, Request<Req>) -> Fut,
    ) -> Result<Resp, Error>
    where
        Req: Clone + Message,
        Fut: Future<Output = Result<Response<Resp>, Status>>,
    {
        self.call().unary(message, call).await
    }

    /// A call with this client's metadata and what the trace context adds. To be made in the caller's task.
    fn call(&self) -> Call<'_> {
        let mut metadata = self.metadata.clone();
        #[cfg(feature = "opentelemetry")]
        crate::trace::inject(&mut metadata);
        if let Some(hook) = &self.shared.hook {
            hook(&mut metadata);
        }
        Call { endpoints: &self.shared.endpoints, metadata, timeout: self.timeout }
    }
}

/// The native conversation of a body, as the messages of [`SimulateCacheRequest`](v1::SimulateCacheRequest) take it.
///
/// # Errors
///
/// [`Error::UnknownFormat`], [`Error::InvalidRequest`] or [`Error::Body`] where the body does not tell its format or is no JSON.
pub fn conversation<B: Body + ?Sized>(body: &B) -> Result<v1::Conversation, Error> {
    Given::new(body, None)?.conversation()
}

/// A body on its way through a call.
pub(crate) struct Given<'a> {
    pub json: Json<'a>,
    /// As a number, so that formats this version does not know can be sent.
    format: i32,
    base: Option<&'a v1::Conversation>,
}

impl<'a> Given<'a> {
    /// Finds out the format: the body's own, that of the request's conversation, or what the JSON tells.
    pub fn new<B: Body + ?Sized>(body: &'a B, base: Option<&'a v1::Conversation>) -> Result<Self, Error> {
        let json = body.json()?;
        let named = base.and_then(|c| c.native.as_ref()).map(|n| n.format).filter(|f| *f != 0);
        let format = match body.format().map(i32::from).or(named) {
            Some(format) => format,
            None => format_of(json.text()?)?.into(),
        };
        Ok(Self { json, format, base })
    }

    /// The conversation that travels: that of the request, with this body.
    pub fn conversation(&self) -> Result<v1::Conversation, Error> {
        // The transport would say so too, but without the field.
        if self.json.as_bytes().len() > MAX_SENT_BYTES {
            return Err(Error::InvalidRequest {
                message: format!("the body has {} bytes, the limit is {MAX_SENT_BYTES}", self.json.as_bytes().len()),
                field: Some("conversation.native".to_owned()),
                reason: None,
                byte_offset: None,
                index: None,
            });
        }
        let body = match &self.json {
            Json::Text(text) => NativeBody::Json(text.as_ref().to_owned()),
            Json::Bytes(bytes) => NativeBody::JsonBytes(bytes.as_ref().to_owned()),
        };
        let keep = self.base.and_then(|c| c.native.as_ref()).is_some_and(|n| n.keep);
        let native = v1::NativeRequest { format: self.format, keep, body: Some(body) };
        let (messages, tools) = self.base.map(|c| (c.messages.clone(), c.tools.clone())).unwrap_or_default();
        Ok(v1::Conversation { native: Some(native), messages, tools })
    }

    pub fn restore<B: Body + ?Sized>(&self, splices: &[v1::Splice]) -> Result<B::Output, Error> {
        B::restore(self.json.replaced(splices::apply(self.json.as_bytes(), splices)?)?)
    }
}

/// Splices are all that a body is made of. Who reads edits can have them beside.
fn view_of(asked: i32) -> i32 {
    if asked == i32::from(v1::View::Edits) { asked } else { v1::View::Splices.into() }
}
