// Package wild makes conversations that nobody would write, and some that somebody
// might: generated ones with every kind of oddity, and damage to real ones. All of it
// is chosen by [Dice], so the same bytes make the same conversation.
package wild
