"""The version, for those who ask for nothing else of the package."""

VERSION = "0.2.0"
