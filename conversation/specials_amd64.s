#include "textflag.h"

// The instructions are those of SSE2, which every amd64 processor has.

#define FILL(byte, register) \
	MOVQ       $(byte * 0x0101010101010101), AX; \
	MOVQ       AX, register;                     \
	PUNPCKLQDQ register, register

// CLASSIFY shifts the bits of 16 bytes at offset into R8, R9 and R10 from above.
#define CLASSIFY(offset, shift) \
	MOVOU    offset(SI), X0; \
	MOVO     X0, X1;         \
	PCMPEQB  X8, X1;         \
	MOVO     X0, X2;         \
	PCMPEQB  X9, X2;         \
	MOVO     X0, X3;         \
	PMINUB   X10, X3;        \
	PCMPEQB  X0, X3;         \
	POR      X2, X3;         \
	MOVO     X0, X4;         \
	PCMPEQB  X11, X4;        \
	MOVO     X0, X5;         \
	PCMPEQB  X12, X5;        \
	PCMPEQB  X13, X0;        \
	POR      X1, X2;         \
	POR      X4, X5;         \
	POR      X2, X0;         \
	POR      X5, X0;         \
	PMOVMSKB X1, AX;         \
	PMOVMSKB X3, BX;         \
	PMOVMSKB X0, CX;         \
	SHLQ     $shift, AX;     \
	SHLQ     $shift, BX;     \
	SHLQ     $shift, CX;     \
	ORQ      AX, R8;         \
	ORQ      BX, R9;         \
	ORQ      CX, R10

// func classify(src *[64]byte) (slashes, stops, legal uint64)
TEXT ·classify(SB), NOSPLIT, $0-32
	MOVQ src+0(FP), SI
	FILL(0x5c, X8)  // backslash
	FILL(0x22, X9)  // quote
	FILL(0x1f, X10) // the last control character
	FILL(0x6e, X11) // n
	FILL(0x72, X12) // r
	FILL(0x74, X13) // t
	XORQ R8, R8
	XORQ R9, R9
	XORQ R10, R10
	CLASSIFY(0, 0)
	CLASSIFY(16, 16)
	CLASSIFY(32, 32)
	CLASSIFY(48, 48)
	MOVQ R8, slashes+8(FP)
	MOVQ R9, stops+16(FP)
	MOVQ R10, legal+24(FP)
	RET
