//! A compression that is watched while it happens.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::Streaming;

use crate::body::{Body, Json};
use crate::call::{Call, too_late};
use crate::client::{Given, Reply};
use crate::error::Error;
use crate::splices;
use crate::v1;
use crate::v1::stream_compress_response::Event as Wire;

/// One thing that happens during a compression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event<B> {
    /// A phase has begun.
    Progress(v1::CompressProgress),
    /// More of the summary's text.
    SummaryPiece(v1::SummaryPiece),
    /// The result. It is the last event.
    Result(Box<Reply<B, v1::CompressResponse>>),
}

/// The events of a compression. Made by [`Client::stream_compress`](crate::Client::stream_compress).
pub struct CompressStream<B> {
    events: Streaming<v1::StreamCompressResponse>,
    json: Json<'static>,
    restore: fn(Json<'_>) -> Result<B, Error>,
    deadline: Instant,
    timeout: Duration,
    done: bool,
}

impl<B> fmt::Debug for CompressStream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressStream").field("done", &self.done).finish_non_exhaustive()
    }
}

impl<O> CompressStream<O> {
    pub(crate) async fn open<B: Body<Output = O> + ?Sized>(
        call: &Call<'_>,
        message: v1::StreamCompressRequest,
        given: Given<'_>,
    ) -> Result<Self, Error> {
        let (mut stub, request, deadline) = call.stream(message);
        let events = match timeout_at(deadline, stub.stream_compress(request)).await {
            Ok(response) => response?.into_inner(),
            Err(_) => return Err(call.too_late()),
        };
        Ok(Self {
            events,
            json: given.json.into_owned(),
            restore: B::restore,
            deadline,
            timeout: call.timeout,
            done: false,
        })
    }

    /// The next event. None after the result.
    ///
    /// # Errors
    ///
    /// See [`Error`]. After an error there is no further event.
    pub async fn next(&mut self) -> Result<Option<Event<O>>, Error> {
        while !self.done {
            let message = match timeout_at(self.deadline, self.events.message()).await {
                Ok(Ok(Some(message))) => message,
                Ok(Ok(None)) => {
                    self.done = true;
                    return Err(Error::Internal {
                        message: "the stream ended without a result".to_owned(),
                        error_id: None,
                    });
                }
                Ok(Err(status)) => {
                    self.done = true;
                    return Err(status.into());
                }
                Err(_) => {
                    self.done = true;
                    return Err(too_late(self.timeout));
                }
            };
            match message.event {
                Some(Wire::Progress(progress)) => return Ok(Some(Event::Progress(progress))),
                Some(Wire::SummaryPiece(piece)) => return Ok(Some(Event::SummaryPiece(piece))),
                Some(Wire::Result(response)) => {
                    self.done = true;
                    let bytes = splices::apply(self.json.as_bytes(), &response.splices)?;
                    let body = (self.restore)(self.json.replaced(bytes)?)?;
                    return Ok(Some(Event::Result(Box::new(Reply { body, response }))));
                }
                // An event of a newer server.
                None => {}
            }
        }
        Ok(None)
    }

    /// Waits for the result and passes over everything before it.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn result(mut self) -> Result<Reply<O, v1::CompressResponse>, Error> {
        while let Some(event) = self.next().await? {
            if let Event::Result(reply) = event {
                return Ok(*reply);
            }
        }
        Err(Error::Internal { message: "the result was taken before".to_owned(), error_id: None })
    }
}
