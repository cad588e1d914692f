"""Many questions: programs by node counts, one after the other, on several processes or on a cluster."""
