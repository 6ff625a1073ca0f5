// Package config is every setting of the server in one typed struct. A setting is
// one field of [Config]: its tags hold key, default and help, and the names of its
// flag and environment variable follow from the key.
//
// [Load] layers flags over environment over file over defaults, checks the result
// and names the key and the source in every error.
package config
