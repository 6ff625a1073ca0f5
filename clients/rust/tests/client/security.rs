//! TLS, mutual TLS, tokens, metadata and trace context, against a double with certificates of its own.

use elbowroom::{Client, ClientBuilder, Error};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use crate::double::Double;
use crate::support::Server;

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name, and its key.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

async fn secure(authority: &Authority, clients: Option<&Authority>) -> Double {
    let (certificate, key) = authority.sign("elbowroom.test");
    let mut tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
    if let Some(clients) = clients {
        tls = tls.client_ca_root(Certificate::from_pem(clients.pem()));
    }
    Double::start_at("127.0.0.1:0".parse().unwrap(), [], Some(tls)).await
}

fn trusting(server: &Double, authority: &Authority) -> ClientBuilder {
    Client::builder(format!("https://{}", server.address)).ca_certificate(authority.pem()).server_name("elbowroom.test")
}

async fn call(client: ClientBuilder) -> Result<(), Error> {
    client.build()?.list_models("").await.map(drop)
}

#[tokio::test]
async fn tls_needs_a_certificate_that_the_client_trusts_under_the_name_it_expects() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = secure(&authority, None).await;
    call(trusting(&server, &authority)).await.unwrap();
    // Without a scheme, TLS options mean TLS.
    let bare =
        Client::builder(server.address.to_string()).ca_certificate(authority.pem()).server_name("elbowroom.test");
    call(bare).await.unwrap();

    let error = call(trusting(&server, &stranger)).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(call(trusting(&server, &authority).server_name("other.test")).await.is_err());
    assert!(call(Client::builder(format!("https://{}", server.address))).await.is_err(), "the system trusts no test");
    assert!(call(Client::builder(server.target())).await.is_err(), "plain");
}

#[tokio::test]
async fn mutual_tls_needs_a_certificate_that_the_server_trusts() {
    let (authority, clients, stranger) = (Authority::new(), Authority::new(), Authority::new());
    let server = secure(&authority, Some(&clients)).await;
    let (certificate, key) = clients.sign("agent");
    call(trusting(&server, &authority).client_certificate(certificate, key)).await.unwrap();
    assert!(call(trusting(&server, &authority)).await.is_err(), "no certificate");
    let (certificate, key) = stranger.sign("agent");
    assert!(call(trusting(&server, &authority).client_certificate(certificate, key)).await.is_err(), "a stranger's");
}

#[tokio::test]
async fn the_service_itself_takes_certificates_and_tokens() {
    use sha2::{Digest as _, Sha256};
    let (authority, clients) = (Authority::new(), Authority::new());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let (certificate, key) = authority.sign("elbowroom.test");
    let digest: String = Sha256::digest("a-token-of-some-length-for-acme").iter().map(|b| format!("{b:02x}")).collect();
    let flags = [
        format!("--tls-cert-file={}", file("server.pem", &certificate)),
        format!("--tls-key-file={}", file("server.key", &key)),
        format!("--tls-client-ca-file={}", file("clients.pem", &clients.pem())),
        format!("--auth-tokens-file={}", file("tokens", &format!("acme {digest}\n"))),
    ];
    let Some(server) = Server::start(&flags.each_ref().map(String::as_str)) else { return };
    let (certificate, key) = clients.sign("agent");
    let client = || {
        Client::builder(format!("https://{}", server.address))
            .ca_certificate(authority.pem())
            .server_name("elbowroom.test")
    };
    let known = || client().client_certificate(&certificate, &key);
    call(known().token("a-token-of-some-length-for-acme")).await.unwrap();
    let error = call(known().token("another")).await.unwrap_err();
    assert!(matches!(error, Error::Unauthenticated { .. }), "{error:?}");
    assert!(matches!(call(known()).await, Err(Error::Unauthenticated { .. })));
    let error = call(client().token("a-token-of-some-length-for-acme")).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn tokens_and_metadata_travel_with_every_call() {
    let server = Double::start([]).await;
    let client = Client::builder(server.target())
        .token("secret")
        .metadata("x-team", "blue")
        .on_call(|metadata| {
            metadata.insert("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap());
        })
        .build()
        .unwrap();
    assert!(!format!("{client:?}").contains("secret"));
    client.list_models("").await.unwrap();
    let mut more = tonic::metadata::MetadataMap::new();
    more.insert("x-call", "7".parse().unwrap());
    client.with_metadata(more).list_models("").await.unwrap();
    let seen = server.seen();
    for (call, own) in seen.iter().zip([None, Some("7")]) {
        let got = |key: &str| call.metadata.get(key).map(|v| v.to_str().unwrap());
        assert_eq!(got("authorization"), Some("Bearer secret"));
        assert_eq!(got("x-team"), Some("blue"));
        assert_eq!(got("traceparent"), Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        assert_eq!(got("x-call"), own);
        assert!(got("user-agent").unwrap().starts_with("elbowroom-rust/"));
    }
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn an_empty_token_is_none() {
    let server = Double::start([]).await;
    for builder in [Client::builder(server.target()), Client::builder(server.target()).token("secret")] {
        builder.token("").build().unwrap().list_models("").await.unwrap();
    }
    let seen = server.seen();
    assert_eq!(seen.iter().filter(|call| call.metadata.get("authorization").is_some()).count(), 0);
    assert_eq!(seen.len(), 2);
    Client::builder("10.1.2.3:50051").token("").build().expect("nothing would travel in the open");
}

#[tokio::test]
async fn a_token_travels_without_tls_to_this_machine_only_unless_the_caller_allows_it() {
    let away = ["10.1.2.3:50051", "http://[2001:db8::1]:50051", "http://elbowroom.internal:50051"];
    let disguised = ["127.0.0.1.example:50051", "localhost.example:1", "http://127.0.0.1:1@10.1.2.3:1"];
    for target in away.into_iter().chain(disguised) {
        let error = Client::builder(target).token("secret").build().expect_err(target);
        assert!(matches!(error, Error::Configuration { .. }), "{error:?}");
        assert!(error.to_string().contains("token_in_the_open()"), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
        Client::builder(target).token("secret").token_in_the_open().build().expect(target);
        Client::builder(target).build().expect(target);
    }
    // Every endpoint gets the token.
    let second = Client::builder("127.0.0.1:1").endpoint("10.1.2.3:1").token("secret").build();
    assert!(matches!(second, Err(Error::Configuration { .. })));
    for target in
        ["localhost:1", "LOCALHOST:1", "127.8.9.10:1", "[::1]:1", "http://[::ffff:127.0.0.1]:1", "https://10.1.2.3:1"]
    {
        Client::builder(target).token("secret").build().expect(target);
    }
}

#[tokio::test]
async fn what_cannot_work_is_said_when_the_client_is_built() {
    for (builder, part) in [
        (Client::builder(""), "target"),
        (Client::builder("ftp://host:1"), "ftp"),
        (Client::builder("http://127.0.0.1:1").server_name("name"), "https"),
        (Client::builder("https://127.0.0.1:1").ca_certificate("no PEM"), "PEM"),
        (Client::builder("https://127.0.0.1:1").client_certificate("no PEM", "nor this"), "https://127.0.0.1:1"),
        (Client::builder("127.0.0.1:1").token("two\nlines"), "authorization"),
        (Client::builder("127.0.0.1:1").metadata("no key", "value"), "no key"),
    ] {
        let error = builder.build().unwrap_err();
        assert!(matches!(error, Error::Configuration { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!error.to_string().contains("lines"), "{error}");
    }
}

#[test]
fn a_client_outside_of_a_runtime_is_an_error_and_no_panic() {
    assert!(matches!(Client::connect("127.0.0.1:1"), Err(Error::Configuration { .. })));
}

#[cfg(feature = "opentelemetry")]
#[tokio::test]
async fn the_current_trace_context_travels() {
    use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator, text_map_propagator::FieldIter};
    use opentelemetry::{Context, global};

    /// Writes what the current context holds. The SDK's propagator for W3C does the same with a span.
    #[derive(Debug)]
    struct Propagator;
    #[derive(Debug)]
    struct Parent(&'static str);

    impl TextMapPropagator for Propagator {
        fn inject_context(&self, context: &Context, injector: &mut dyn Injector) {
            if let Some(parent) = context.get::<Parent>() {
                injector.set("traceparent", parent.0.to_owned());
            }
        }
        fn extract_with_context(&self, context: &Context, _: &dyn Extractor) -> Context {
            context.clone()
        }
        fn fields(&self) -> FieldIter<'_> {
            FieldIter::new(&[])
        }
    }

    global::set_text_map_propagator(Propagator);
    let server = Double::start([]).await;
    let client = Client::connect(server.target()).unwrap();
    client.list_models("").await.unwrap();
    {
        use opentelemetry::context::FutureExt as _;
        let context = Context::current_with_value(Parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        client.list_models("").with_context(context).await.unwrap();
    }
    let seen: Vec<_> = server.seen().iter().map(|s| s.metadata.get("traceparent").cloned()).collect();
    assert_eq!(seen[0], None);
    assert_eq!(seen[1].as_ref().unwrap(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}
