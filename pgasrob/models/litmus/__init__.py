"""The litmus language: small programs that several memory models are asked about (`*.litmus`)."""
