//! How a client finds and trusts its servers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::Endpoint;

use crate::call::Endpoints;
use crate::client::{Client, Hook, Shared};
use crate::error::Error;

/// How long a call may take when nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than this no server takes to accept a connection; the call's own timeout still applies.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Sets up a [`Client`]. Made by [`Client::builder`].
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    targets: Vec<String>,
    timeout: Duration,
    metadata: MetadataMap,
    token: bool,
    token_in_the_open: bool,
    /// The first thing that cannot work.
    wrong: Option<String>,
    hook: Option<Hook>,
    #[cfg(feature = "tls")]
    tls: Option<tonic::transport::ClientTlsConfig>,
    #[cfg(feature = "tls")]
    own_roots: bool,
}

impl ClientBuilder {
    pub(crate) fn new(target: String) -> Self {
        Self {
            targets: vec![target],
            timeout: DEFAULT_TIMEOUT,
            metadata: MetadataMap::new(),
            token: false,
            token_in_the_open: false,
            wrong: None,
            hook: None,
            #[cfg(feature = "tls")]
            tls: None,
            #[cfg(feature = "tls")]
            own_roots: false,
        }
    }

    /// Adds a server that does the same work. Calls take turns; a server that cannot be reached is left out for a second.
    pub fn endpoint(mut self, target: impl Into<String>) -> Self {
        self.targets.push(target.into());
        self
    }

    /// How long a call may take, retries included. Default [`DEFAULT_TIMEOUT`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends a bearer token with every call. Without TLS it is sent to addresses of this machine only: [`build`](Self::build) refuses
    /// others, see [`token_in_the_open`](Self::token_in_the_open). An empty token is none.
    pub fn token(mut self, token: impl AsRef<str>) -> Self {
        if token.as_ref().is_empty() {
            if std::mem::take(&mut self.token) {
                self.metadata.remove("authorization");
            }
            return self;
        }
        self.token = true;
        self.metadata("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Sends the token without TLS to other machines too: for networks that encrypt by themselves.
    pub fn token_in_the_open(mut self) -> Self {
        self.token_in_the_open = true;
        self
    }

    /// Sends metadata with every call.
    pub fn metadata(mut self, key: &str, value: impl AsRef<str>) -> Self {
        match (key.parse::<AsciiMetadataKey>(), value.as_ref().parse::<AsciiMetadataValue>()) {
            (Ok(key), Ok(mut value)) => {
                value.set_sensitive(key == "authorization");
                self.metadata.insert(key, value);
            }
            // The value may be a secret, so it is not part of the message.
            _ => self = self.refuse(format!("metadata {key:?}: the key or the value cannot be sent")),
        }
        self
    }

    /// Lets a function add to the metadata of every call, in the task of the caller: for trace context of any kind. With the feature
    /// `opentelemetry` that of OpenTelemetry is sent without it.
    pub fn on_call(mut self, hook: impl Fn(&mut MetadataMap) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Trusts servers whose certificate is signed by one of these (PEM), in place of the system's.
    #[cfg(feature = "tls")]
    pub fn ca_certificate(mut self, pem: impl AsRef<[u8]>) -> Self {
        // tonic would trust nobody and not say why.
        if !contains(pem.as_ref(), b"-----BEGIN CERTIFICATE-----") {
            return self.refuse("the CA certificate is no PEM".to_owned());
        }
        self.own_roots = true;
        self.with_tls(|tls| tls.ca_certificate(tonic::transport::Certificate::from_pem(pem)))
    }

    /// Shows the server a certificate (PEM, with its key): mutual TLS.
    #[cfg(feature = "tls")]
    pub fn client_certificate(self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Self {
        self.with_tls(|tls| tls.identity(tonic::transport::Identity::from_pem(certificate, key)))
    }

    /// The name that the server's certificate must carry. Default: the host of the address.
    #[cfg(feature = "tls")]
    pub fn server_name(self, name: impl Into<String>) -> Self {
        self.with_tls(|tls| tls.domain_name(name))
    }

    #[cfg(feature = "tls")]
    fn with_tls(
        mut self,
        change: impl FnOnce(tonic::transport::ClientTlsConfig) -> tonic::transport::ClientTlsConfig,
    ) -> Self {
        self.tls = Some(change(self.tls.unwrap_or_default()));
        self
    }

    /// Makes the client. Connections are opened by the first call and again when they break.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for an address, a certificate or metadata that cannot be used, for a token that would travel in the
    /// open, and outside of a Tokio runtime.
    pub fn build(self) -> Result<Client, Error> {
        if let Some(wrong) = self.wrong {
            return Err(Error::configuration(wrong));
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(Error::configuration("there is no Tokio runtime: build the client inside of one"));
        }
        let channels = self
            .targets
            .iter()
            .map(|target| Ok(self.open(target)?.connect_lazy()))
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Client {
            shared: Arc::new(Shared { endpoints: Endpoints::new(channels), hook: self.hook }),
            timeout: self.timeout,
            metadata: self.metadata,
        })
    }

    fn refuse(mut self, why: String) -> Self {
        self.wrong.get_or_insert(why);
        self
    }

    fn open(&self, target: &str) -> Result<Endpoint, Error> {
        let wrong = |e: &dyn std::fmt::Display| Error::configuration(format!("target {target:?}: {e}"));
        let address = match target.split_once("://") {
            Some(("http" | "https", _)) => target.to_owned(),
            Some((scheme, _)) => return Err(wrong(&format_args!("{scheme} is neither http nor https"))),
            None => format!("{}://{target}", if self.wants_tls() { "https" } else { "http" }),
        };
        let secure = address.starts_with("https://");
        if self.wants_tls() && !secure {
            return Err(wrong(&"it is plain, but TLS options are set: begin it with https://"));
        }
        let endpoint = Endpoint::from_shared(address)
            .and_then(|e| e.user_agent(concat!("elbowroom-rust/", env!("CARGO_PKG_VERSION"))))
            .map_err(|e| wrong(&e))?
            .connect_timeout(CONNECT_TIMEOUT)
            // Without it a turn waits for acknowledgements that are held back.
            .tcp_nodelay(true)
            // The default of 64 KiB makes a large conversation wait for the round trips of its windows.
            .http2_adaptive_window(true);
        let host = endpoint.uri().host().unwrap_or_default();
        if host.is_empty() {
            return Err(wrong(&"it has no host"));
        }
        if self.token && !secure && !self.token_in_the_open && !on_this_machine(host) {
            return Err(wrong(
                &"the token would travel in the open; use https://, or token_in_the_open() if the network encrypts",
            ));
        }
        if secure { self.secure(endpoint).map_err(|e| wrong(&e)) } else { Ok(endpoint) }
    }

    #[cfg(feature = "tls")]
    fn wants_tls(&self) -> bool {
        self.tls.is_some()
    }

    #[cfg(feature = "tls")]
    fn secure(&self, endpoint: Endpoint) -> Result<Endpoint, String> {
        let tls = self.tls.clone().unwrap_or_default();
        let tls = if self.own_roots { tls } else { tls.with_native_roots() };
        endpoint.tls_config(tls).map_err(|e| {
            // The cause says which certificate or key is wrong.
            std::error::Error::source(&e).map_or_else(|| e.to_string(), |cause| format!("{e}: {cause}"))
        })
    }

    #[cfg(not(feature = "tls"))]
    fn wants_tls(&self) -> bool {
        false
    }

    #[cfg(not(feature = "tls"))]
    fn secure(&self, _: Endpoint) -> Result<Endpoint, String> {
        Err("this build of the client has no TLS: turn its feature tls on".to_owned())
    }
}

/// Whether the host of an address is this machine. Names are not looked up.
fn on_this_machine(host: &str) -> bool {
    let ip = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(feature = "tls")]
fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
