#include "textflag.h"

// The instructions of classify are those of SSE2, which every amd64 processor has.

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

// What commonly follows a backslash, but for the quote, by its lower four bits. What
// stands at the other places never is what is looked up there.
DATA legal<>+0(SB)/8, $0x0000007400720001
DATA legal<>+8(SB)/8, $0x006e005c00000000
GLOBL legal<>(SB), RODATA|NOPTR, $16

#define FILL256(byte, register, half) \
	MOVQ         $byte, AX; \
	MOVQ         AX, half;  \
	VPBROADCASTB half, register

// func passWide(src *byte, n int) (at int, slashes uint64)
//
// The masks are those of classify, the arithmetic that of escapedBy.
TEXT ·passWide(SB), NOSPLIT, $0-32
	MOVQ src+0(FP), SI
	MOVQ n+8(FP), DX
	MOVQ SI, DI
	LEAQ -64(SI)(DX*1), DX              // where the last 64 bytes begin
	FILL256(0x5c, Y8, X8)               // backslash
	FILL256(0x22, Y9, X9)               // quote
	FILL256(0x1f, Y10, X10)             // the last control character
	VBROADCASTI128 legal<>(SB), Y11
	MOVQ $0x5555555555555555, R13
	XORQ R11, R11                       // carry
	XORQ R12, R12                       // slashes

block:
	CMPQ      DI, DX
	JHI       end
	VMOVDQU   (DI), Y0
	VMOVDQU   32(DI), Y1
	VPCMPEQB  Y8, Y0, Y2
	VPCMPEQB  Y8, Y1, Y3
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y3, BX
	VPCMPEQB  Y9, Y0, Y2                // quotes
	VPCMPEQB  Y9, Y1, Y3
	VPMINUB   Y10, Y0, Y4
	VPMINUB   Y10, Y1, Y5
	VPCMPEQB  Y4, Y0, Y4
	VPCMPEQB  Y5, Y1, Y5
	VPOR      Y2, Y4, Y4
	VPOR      Y3, Y5, Y5
	VPMOVMSKB Y4, CX
	VPMOVMSKB Y5, R9
	VPSHUFB   Y0, Y11, Y6
	VPSHUFB   Y1, Y11, Y7
	VPCMPEQB  Y6, Y0, Y6
	VPCMPEQB  Y7, Y1, Y7
	VPOR      Y2, Y6, Y6
	VPOR      Y3, Y7, Y7
	VPMOVMSKB Y6, R8
	VPMOVMSKB Y7, R10
	SHLQ      $32, BX
	SHLQ      $32, R9
	SHLQ      $32, R10
	ORQ       BX, AX                    // slashes
	ORQ       R9, CX                    // stops
	ORQ       R10, R8                   // legal

	MOVQ  R11, R9
	NOTQ  R9
	ANDQ  AX, R9                        // slashes that are not escaped by the block before
	LEAQ  (R11)(R9*2), R10              // what follows one
	MOVQ  R13, BX
	ORQ   R10, BX
	NOTQ  BX
	ANDQ  R9, BX                        // odd starts of runs
	ADDQ  R9, BX
	SETCS R11
	ADDQ  BX, BX
	XORQ  R13, BX
	ANDQ  R10, BX                       // escaped

	MOVQ BX, R9
	NOTQ R9
	ANDQ R9, CX
	NOTQ R8
	ANDQ BX, R8
	ORQ  R8, CX                         // where it ends
	JNE  stop
	ORQ  AX, R12
	ADDQ $64, DI
	JMP  block

stop:
	BSFQ CX, R9
	MOVQ CX, R8
	NOTQ R8
	DECQ CX
	ANDQ R8, CX                         // all before
	ANDQ AX, CX
	ORQ  CX, R12
	ADDQ R9, DI
	BTQ  R9, BX
	JCC  done
	DECQ DI                             // to the backslash
	JMP  done

end:
	SUBQ R11, DI

done:
	SUBQ SI, DI
	MOVQ DI, at+16(FP)
	MOVQ R12, slashes+24(FP)
	VZEROUPPER
	RET

// func asciiWide(src *byte, n int) int
TEXT ·asciiWide(SB), NOSPLIT, $0-24
	MOVQ src+0(FP), SI
	MOVQ n+8(FP), DX
	XORQ AX, AX
	LEAQ -128(DX), CX

four:
	CMPQ      AX, CX
	JGT       rest
	VMOVDQU   (SI)(AX*1), Y0
	VMOVDQU   64(SI)(AX*1), Y1
	VPOR      32(SI)(AX*1), Y0, Y0
	VPOR      96(SI)(AX*1), Y1, Y1
	VPOR      Y0, Y1, Y0
	VPMOVMSKB Y0, BX
	TESTL     BX, BX
	JNE       rest
	ADDQ      $128, AX
	JMP       four

rest:
	LEAQ -32(DX), CX

one:
	CMPQ      AX, CX
	JGT       done
	VMOVDQU   (SI)(AX*1), Y0
	VPMOVMSKB Y0, BX
	TESTL     BX, BX
	JNE       found
	ADDQ      $32, AX
	JMP       one

found:
	BSFL BX, BX
	ADDQ BX, AX

done:
	MOVQ AX, ret+16(FP)
	VZEROUPPER
	RET

// MASK moves the signs of 32 bytes to a place of masks, 32 bits wide.
#define MASK(register, place) \
	VPMOVMSKB register, AX; \
	MOVL      AX, place(DI)

// LEADS writes the lower or the upper halves of the masks.
#define LEADS(offset, half) \
	VMOVDQU  offset(SI), Y0;  \
	MASK(Y0, half);           \
	VPCMPGTB Y0, Y8, Y1;      \
	MASK(Y1, half+8);         \
	VPCMPGTB Y9, Y0, Y2;      \
	MASK(Y2, half+16);        \
	VPCMPGTB Y10, Y0, Y2;     \
	MASK(Y2, half+24);        \
	VPCMPGTB Y0, Y11, Y2;     \
	VPXOR    Y1, Y2, Y2;      \
	VPMINUB  Y12, Y0, Y3;     \
	VPCMPEQB Y12, Y3, Y3;     \
	VPOR     Y2, Y3, Y3;      \
	MASK(Y3, half+32);        \
	VPCMPEQB Y13, Y0, Y2;     \
	VPCMPEQB Y14, Y0, Y3;     \
	VPOR     Y2, Y3, Y2;      \
	VPCMPEQB Y5, Y0, Y3;      \
	VPCMPEQB Y6, Y0, Y4;      \
	VPOR     Y3, Y4, Y3;      \
	VPOR     Y2, Y3, Y2;      \
	MASK(Y2, half+40)

// func leadsWide(src *[64]byte, m *leads)
TEXT ·leadsWide(SB), NOSPLIT, $0-16
	MOVQ src+0(FP), SI
	MOVQ m+8(FP), DI
	FILL256(0xc0, Y8, X8)
	FILL256(0xdf, Y9, X9)
	FILL256(0xef, Y10, X10)
	FILL256(0xc2, Y11, X11)
	FILL256(0xf5, Y12, X12)
	FILL256(0xe0, Y13, X13)
	FILL256(0xed, Y14, X14)
	FILL256(0xf0, Y5, X5)
	FILL256(0xf4, Y6, X6)
	LEADS(0, 0)
	LEADS(32, 4)
	VZEROUPPER
	RET
