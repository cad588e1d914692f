"""The checker of certificates: what it accepts is a proof that the program is robust (`proofs/certificates.md`)."""
