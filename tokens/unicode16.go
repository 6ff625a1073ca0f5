package tokens

// addedRunes is a range of characters and their properties.
type addedRunes struct {
	first, last rune
	properties  uint8
}

// unicode16 lists the letters, marks and numbers that Unicode 15.1 and 16 added to Go's tables, which are those of
// Unicode 15: both tiktoken packages know them. Where Go's version of Unicode moves on, the test that counts the
// characters of each class fails, and this list must follow.
func unicode16() []addedRunes {
	const (
		upper    = upperSet | letter | scriptOther<<scriptShift
		lower    = lowerSet | letter | scriptOther<<scriptShift
		caseless = upperSet | lowerSet | letter | scriptOther<<scriptShift
		latinUp  = upperSet | letter | scriptDiacritic<<scriptShift
		latinLow = lowerSet | letter | scriptDiacritic<<scriptShift
		ideogram = upperSet | lowerSet | letter | scriptCJK<<scriptShift
		mark     = upperSet | lowerSet | scriptDiacritic<<scriptShift
	)
	return []addedRunes{
		{0x0897, 0x0897, mark},  // Arabic
		{0x1c89, 0x1c89, upper}, // Cyrillic
		{0x1c8a, 0x1c8a, lower},
		{0xa7cb, 0xa7cc, latinUp},
		{0xa7cd, 0xa7cd, latinLow},
		{0xa7da, 0xa7da, latinUp},
		{0xa7db, 0xa7db, latinLow},
		{0xa7dc, 0xa7dc, latinUp},
		{0x105c0, 0x105f3, caseless}, // Todhri
		{0x10d40, 0x10d49, number},   // Garay
		{0x10d4a, 0x10d4f, caseless},
		{0x10d50, 0x10d65, upper},
		{0x10d69, 0x10d6d, mark},
		{0x10d6f, 0x10d6f, caseless},
		{0x10d70, 0x10d85, lower},
		{0x10ec2, 0x10ec4, caseless}, // Arabic
		{0x10efc, 0x10efc, mark},
		{0x11380, 0x11389, caseless}, // Tulu-Tigalari
		{0x1138b, 0x1138b, caseless},
		{0x1138e, 0x1138e, caseless},
		{0x11390, 0x113b5, caseless},
		{0x113b7, 0x113b7, caseless},
		{0x113b8, 0x113c0, mark},
		{0x113c2, 0x113c2, mark},
		{0x113c5, 0x113c5, mark},
		{0x113c7, 0x113ca, mark},
		{0x113cc, 0x113d0, mark},
		{0x113d1, 0x113d1, caseless},
		{0x113d2, 0x113d2, mark},
		{0x113d3, 0x113d3, caseless},
		{0x113e1, 0x113e2, mark},
		{0x116d0, 0x116e3, number},   // Myanmar
		{0x11bc0, 0x11be0, caseless}, // Sunuwar
		{0x11bf0, 0x11bf9, number},
		{0x11f5a, 0x11f5a, mark},     // Kawi
		{0x13460, 0x143fa, caseless}, // Egyptian hieroglyphs
		{0x16100, 0x1611d, caseless}, // Gurung Khema
		{0x1611e, 0x1612f, mark},
		{0x16130, 0x16139, number},
		{0x16d40, 0x16d6c, caseless}, // Kirat Rai
		{0x16d70, 0x16d79, number},
		{0x18cff, 0x18cff, caseless}, // Khitan
		{0x1ccf0, 0x1ccf9, number},   // outlined digits
		{0x1e5d0, 0x1e5ed, caseless}, // Ol Onal
		{0x1e5ee, 0x1e5ef, mark},
		{0x1e5f0, 0x1e5f0, caseless},
		{0x1e5f1, 0x1e5fa, number},
		{0x2ebf0, 0x2ee5d, ideogram}, // CJK extension I
	}
}
