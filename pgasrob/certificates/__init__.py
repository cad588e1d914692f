"""Certificates: evidence for a robust verdict, and the small checker that needs none of the engines to accept it."""
