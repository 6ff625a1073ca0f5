# syntax=docker/dockerfile:1

# docker build --build-arg VERSION="$(git describe --tags --always)" -t elbowroom .
# docker run --rm elbowroom demo
# docker run --rm -p 127.0.0.1:50051:50051 elbowroom serve --insecure
#
# Inside a container loopback reaches nobody, so the image listens on all interfaces; the server refuses that, with exit code 2 and
# the reason, until it is given a form of authentication or --insecure. A server that nobody can reach would look healthy instead.
#
# `make image-check` builds and runs this file without a Docker engine.

ARG GO_VERSION=1.26

# By tag. Whoever publishes images should pin both by digest (name:tag@sha256:...) and let a bot move the pins.
FROM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src

# Modules first: they change less often than the code.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download

COPY . .
ARG VERSION=devel
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags="-s -w -X main.version=${VERSION}" \
    -o /out/elbowroom ./cmd/elbowroom

# Certificates for calls to summarizers, a user, /tmp; no shell, no package manager, no libc.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=devel
LABEL org.opencontainers.image.title="elbowroom" \
      org.opencontainers.image.description="Context compression, prompt-cache breakpoints and token counts for LLM agents, over gRPC" \
      org.opencontainers.image.source="https://github.com/elbowroom/elbowroom" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"

COPY --from=build /src/LICENSE /src/NOTICE /
COPY --from=build /out/elbowroom /elbowroom

ENV ELBOWROOM_GRPC_ADDR=0.0.0.0:50051 \
    ELBOWROOM_HTTP_ADDR=0.0.0.0:8051
# gRPC, HTTP/JSON, admin. The admin port has no authentication and stays on loopback until ELBOWROOM_ADMIN_ADDR says otherwise.
EXPOSE 50051 8051 9051

# By number, so that Kubernetes can check runAsNonRoot.
USER 65532:65532

# Kept by images in the Docker format; the OCI format has no field for it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/elbowroom", "healthcheck"]

ENTRYPOINT ["/elbowroom"]
CMD ["serve"]
