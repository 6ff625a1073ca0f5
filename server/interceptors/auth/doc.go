// Package auth says who calls: bearer tokens, checked against a file of hashes or
// as signed JSON Web Tokens, and client certificates, each mapped to a tenant.
// Whoever is let in acts for one tenant; tenants share nothing.
package auth
