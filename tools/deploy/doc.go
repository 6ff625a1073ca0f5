// Package deploy checks deploy/ by the types that read it: manifests by those of Kubernetes, Envoy's configuration by its protos and
// their rules, compose by its schema, Prometheus' and the collector's by their own loaders, and Elbowroom's settings by the binary.
// Each refuses a field that does not exist. It is a module of its own: none of this belongs into the service.
package deploy
