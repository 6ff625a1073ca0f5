#include "textflag.h"

// The instructions are those of SSE2, which every amd64 processor has.

// FIND sets the bits of mask for 16 bytes at offset: a quote, a backslash, or what is
// not above 0x1f.
#define FIND(offset, mask) \
	MOVOU    offset(SI), X0; \
	MOVO     X0, X1;         \
	PCMPEQB  X8, X1;         \
	MOVO     X0, X2;         \
	PCMPEQB  X9, X2;         \
	POR      X1, X2;         \
	MOVO     X0, X3;         \
	PMINUB   X10, X3;        \
	PCMPEQB  X0, X3;         \
	POR      X2, X3;         \
	PMOVMSKB X3, mask

// func specials(src *[64]byte) uint64
TEXT ·specials(SB), NOSPLIT, $0-16
	MOVQ       src+0(FP), SI
	MOVQ       $0x2222222222222222, AX
	MOVQ       AX, X8
	PUNPCKLQDQ X8, X8
	MOVQ       $0x5c5c5c5c5c5c5c5c, AX
	MOVQ       AX, X9
	PUNPCKLQDQ X9, X9
	MOVQ       $0x1f1f1f1f1f1f1f1f, AX
	MOVQ       AX, X10
	PUNPCKLQDQ X10, X10
	FIND(0, R8)
	FIND(16, R9)
	FIND(32, R10)
	FIND(48, R11)
	SHLQ       $16, R9
	SHLQ       $32, R10
	SHLQ       $48, R11
	ORQ        R9, R8
	ORQ        R11, R10
	ORQ        R10, R8
	MOVQ       R8, ret+8(FP)
	RET
