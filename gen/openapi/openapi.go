// Package openapi holds the OpenAPI document.
package openapi

import _ "embed"

//go:embed elbowroom.json
var Document []byte
