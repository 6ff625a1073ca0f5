//! Byte edits of a body: applying those that a response names, and finding the one that leads from a body to the next.

use crate::error::Error;
use crate::v1::Splice;

/// Applies splices to the bytes they were made for. Everything outside of them stays as it is.
pub(crate) fn apply(body: &[u8], splices: &[Splice]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(body.len() + splices.iter().map(|s| s.text.len()).sum::<usize>());
    let mut at = 0;
    for splice in splices {
        let range = usize::try_from(splice.offset).ok().zip(usize::try_from(splice.length).ok());
        let Some((start, end)) = range.and_then(|(start, length)| Some((start, start.checked_add(length)?))) else {
            return Err(misfit(body, splice));
        };
        if start < at || end > body.len() {
            return Err(misfit(body, splice));
        }
        out.extend_from_slice(&body[at..start]);
        out.extend_from_slice(splice.text.as_bytes());
        at = end;
    }
    out.extend_from_slice(&body[at..]);
    Ok(out)
}

fn misfit(body: &[u8], splice: &Splice) -> Error {
    Error::Internal {
        message: format!(
            "the service edits {} bytes at {} of a body of {} bytes, or out of order",
            splice.length,
            splice.offset,
            body.len()
        ),
        error_id: None,
    }
}

/// The one splice that leads from `from` to `to`: what stands between their longest common beginning and end, cut between
/// characters. None when they are equal.
pub(crate) fn difference(from: &str, to: &str) -> Option<Splice> {
    if from == to {
        return None;
    }
    let mut start = common(from.bytes(), to.bytes());
    // Both texts are UTF-8 and equal up to here, so what is no boundary of one is none of the other.
    while !to.is_char_boundary(start) {
        start -= 1;
    }
    let mut tail = common(from.as_bytes()[start..].iter().rev(), to.as_bytes()[start..].iter().rev());
    while !to.is_char_boundary(to.len() - tail) {
        tail -= 1;
    }
    Some(Splice {
        offset: start as i64,
        length: (from.len() - tail - start) as i64,
        text: to[start..to.len() - tail].to_owned(),
    })
}

fn common<T: PartialEq>(a: impl Iterator<Item = T>, b: impl Iterator<Item = T>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(offset: i64, length: i64, text: &str) -> Splice {
        Splice { offset, length, text: text.to_owned() }
    }

    #[test]
    fn splices_change_only_what_they_name() {
        let got = apply("naïve text".as_bytes(), &[splice(0, 0, "a "), splice(2, 2, "i"), splice(10, 1, "")]).unwrap();
        assert_eq!(String::from_utf8(got).unwrap(), "a naive tex");
        assert_eq!(apply(b"same", &[]).unwrap(), b"same");
    }

    #[test]
    fn splices_that_do_not_fit_are_an_error() {
        for bad in [
            vec![splice(3, 2, "")],
            vec![splice(-1, 1, "")],
            vec![splice(1, -1, "")],
            vec![splice(2, 1, ""), splice(1, 1, "")],
            vec![splice(1, i64::MAX, "")],
        ] {
            assert!(matches!(apply(b"four", &bad), Err(Error::Internal { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_difference_leads_from_one_text_to_the_other_and_is_cut_between_characters() {
        for (from, to, length) in [
            ("", "new", 3),
            ("gone", "", 0),
            ("[1,2]", "[1,2,3]", 2),
            ("aa", "aaa", 1),
            ("aaa", "aa", 0),
            ("xéy", "xèy", 2),            // first bytes equal
            ("x\u{e9}y", "x\u{129}y", 2), // last bytes equal
            ("日本", "日木本", 3),
            ("😀", "😁", 4),
        ] {
            let found = difference(from, to).unwrap();
            assert_eq!(found.text.len(), length, "{from} -> {to}");
            assert_eq!(apply(from.as_bytes(), &[found]).unwrap(), to.as_bytes(), "{from} -> {to}");
        }
        assert_eq!(difference("same", "same"), None);
    }
}
